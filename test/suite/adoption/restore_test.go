package adoption

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recording is what is put back: identifiers that the simulator and the API server
// choose are replaced wherever the recording names them.
type recording struct {
	replace []string // pairs of old and new
}

// machine is a recorded instance.
type machine struct {
	ID, Type, Subnet, Image, Group, Name string
	Spot                                 bool
	Tags                                 map[string]string
}

// restore puts the recorded instances and objects back.
func restore(t *testing.T) {
	t.Helper()
	r := &recording{}
	for _, m := range machines(t) {
		// Their nodes are put back too: nothing may join for them.
		id, name := launch(t, &m, strings.Replace(userData(t), "name: "+clusterName, "name: elsewhere", 1))
		r.replace = append(r.replace, m.ID, id, m.Name, name)
	}
	all := objects(t)
	// Pods and ReplicaSets come without owners and before them, and are adopted: no
	// controller makes others meanwhile.
	rank := map[string]int{"NodePool": 1, "EC2NodeClass": 2, "NodeClaim": 3, "Node": 4, "Pod": 5, "ReplicaSet": 6, "Deployment": 7}
	slices.SortStableFunc(all, func(a, b *unstructured.Unstructured) int { return rank[a.GetKind()] - rank[b.GetKind()] })
	for _, o := range all {
		r.put(t, o)
	}
}

func machines(t *testing.T) []machine {
	t.Helper()
	text, err := os.ReadFile("testdata/instances.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []machine
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile("testdata/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for dec := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		o := &unstructured.Unstructured{}
		if err := dec.Decode(&o.Object); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		out = append(out, o)
	}
}

// userData is what Karpenter gave an instance of NodePool labels to boot with.
func userData(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("testdata/userdata.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// launch starts an instance like a recorded one and returns its ID and DNS name.
func launch(t *testing.T, m *machine, boot string) (id, name string) {
	t.Helper()
	in := &ec2.RunInstancesInput{
		ImageId: &m.Image, InstanceType: ec2types.InstanceType(m.Type), MinCount: aws.Int32(1), MaxCount: aws.Int32(1),
		SubnetId: &m.Subnet, SecurityGroupIds: []string{m.Group},
		UserData:          aws.String(base64.StdEncoding.EncodeToString([]byte(boot))),
		TagSpecifications: []ec2types.TagSpecification{{ResourceType: ec2types.ResourceTypeInstance}},
	}
	for k, v := range m.Tags {
		in.TagSpecifications[0].Tags = append(in.TagSpecifications[0].Tags, ec2types.Tag{Key: &k, Value: &v})
	}
	if m.Spot {
		in.InstanceMarketOptions = &ec2types.InstanceMarketOptionsRequest{MarketType: ec2types.MarketTypeSpot}
	}
	out, err := stack.EC2.RunInstances(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return aws.ToString(out.Instances[0].InstanceId), aws.ToString(out.Instances[0].PrivateDnsName)
}

// put creates an object with its status.
func (r *recording) put(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	uid := string(o.GetUID())
	o.SetUID("")
	if kind := o.GetKind(); kind == "Pod" || kind == "ReplicaSet" {
		o.SetOwnerReferences(nil)
	}
	text, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UnmarshalJSON([]byte(strings.NewReplacer(r.replace...).Replace(string(text)))); err != nil {
		t.Fatal(err)
	}
	status := o.Object["status"]
	delete(o.Object, "status")
	// The namespace's ServiceAccount, which pods need, is made by another program.
	wait(t, "create "+o.GetKind()+" "+o.GetName(), 30*time.Second, func(ctx context.Context) (string, bool) {
		err := stack.Client.Create(ctx, o)
		return fmt.Sprint(err), err == nil
	})
	r.replace = append(r.replace, uid, string(o.GetUID()))
	patch, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		t.Fatal(err)
	}
	if err := stack.Client.Status().Patch(t.Context(), o, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		t.Fatalf("status of %s %s: %v", o.GetKind(), o.GetName(), err)
	}
}

// wait waits for a check.
func wait(t *testing.T, what string, within time.Duration, check func(context.Context) (string, bool)) {
	t.Helper()
	if err := stack.Until(t.Context(), what, within, check); err != nil {
		t.Fatal(err)
	}
}
