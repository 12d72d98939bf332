// Package awstest has what tests of several packages of the AWS provider need: an
// EC2NodeClass, a launch, and golden files.
package awstest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

var update = flag.Bool("update", false, "write the golden files") //nolint:gochecknoglobals // a flag of the test binary

// Golden compares a text with a file of testdata; -update writes the file.
func Golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; -update accepts it):\n%s", file, diff)
	}
}

// Class is a class of a family with kubelet settings and tags; own is its user data, ""
// for none.
func Class(family, own string) *awsv1.EC2NodeClass {
	class := &awsv1.EC2NodeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "default", Generation: 1},
		Spec: awsv1.EC2NodeClassSpec{
			AMIFamily: sdk.String(family),
			Kubelet: &awsv1.KubeletConfiguration{
				ClusterDNS: []string{"10.100.0.10"}, MaxPods: sdk.Int32(58),
				EvictionHard:            map[string]string{"memory.available": "5%"},
				EvictionSoft:            map[string]string{"memory.available": "8%"},
				EvictionSoftGracePeriod: map[string]metav1.Duration{"memory.available": {Duration: time.Minute}},
			},
			Tags: map[string]string{"team": "shaves", "empty": ""},
		},
		Status: awsv1.EC2NodeClassStatus{InstanceProfile: "spokes_profile", SecurityGroups: []awsv1.SecurityGroup{{ID: "sg-1"}, {ID: "sg-2"}}},
	}
	if own != "" {
		class.Spec.UserData = sdk.String(own)
	}
	return class
}

// Spec is a launch with spot options, one of them twice, and an on-demand option.
func Spec() provider.LaunchSpec {
	return provider.LaunchSpec{
		Claim: "general-x7k2p", NodePool: "general", NodeClass: "default",
		Options: []model.Option{
			{InstanceType: "m7g.large", Zone: "us-west-2b", CapacityType: model.Spot},
			{InstanceType: "m7i.large", Zone: "us-west-2a", CapacityType: model.Spot},
			{InstanceType: "m7g.large", Zone: "us-west-2b", CapacityType: model.Spot},
			{InstanceType: "m7i.large", Zone: "us-west-2b", CapacityType: model.Spot},
			{InstanceType: "m7i.large", Zone: "us-west-2b", CapacityType: model.OnDemand},
		},
		Labels: map[string]string{
			"team": "shaves", "example.com/tier": "web", "karpenter.sh/nodepool": "general",
			"topology.kubernetes.io/zone": "us-west-2b", "node.kubernetes.io/instance-type": "m7g.large",
			"karpenter.k8s.aws/instance-family": "m7g", "karpenter.k8s.aws/ec2nodeclass": "default",
			"kubernetes.io/arch": "arm64", "node-role.kubernetes.io/worker": "",
		},
		Taints:        []model.Taint{{Key: "dedicated", Value: "web", Effect: model.NoSchedule}},
		StartupTaints: []model.Taint{{Key: "cni", Effect: model.NoExecute}, {Key: "dedicated", Value: "web", Effect: model.NoSchedule}},
	}
}

// Indented is JSON for people.
func Indented(t *testing.T, raw []byte) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}
