package aws

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name, got string) {
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

func testCluster() cluster {
	return cluster{name: "spokes", endpoint: "https://spokes.example", ca: "Q0E=", cidr: "10.100.0.0/16", version: "1.36"}
}

func testClass(family, own string) *awsv1.EC2NodeClass {
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

func testSpec() provider.LaunchSpec {
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

func TestUserData(t *testing.T) {
	script := "#!/bin/bash\necho hello\n"
	archive := "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"OWN\"\n\n--OWN\nContent-Type: application/node.eks.aws\n\n" +
		"kind: NodeConfig\napiVersion: node.eks.aws/v1alpha1\nspec:\n  kubelet:\n    config:\n      maxPods: 42\n--OWN\nContent-Type: text/x-shellscript\n\n" + script + "--OWN--\n"
	for name, c := range map[string]struct {
		reason string
		class  *awsv1.EC2NodeClass
		raid0  bool
	}{
		"al2023.txt":         {reason: "the generated NodeConfig alone", class: testClass(awsv1.AMIFamilyAL2023, "")},
		"al2023-raid0.txt":   {reason: "local disks joined", class: testClass(awsv1.AMIFamilyAL2023, ""), raid0: true},
		"al2023-script.txt":  {reason: "a script becomes a part", class: testClass(awsv1.AMIFamilyAL2023, script)},
		"al2023-config.txt":  {reason: "an own NodeConfig comes after ours and wins", class: testClass(awsv1.AMIFamilyAL2023, "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec: {kubelet: {config: {maxPods: 42}}}")},
		"al2023-archive.txt": {reason: "the parts of an own archive are kept", class: testClass(awsv1.AMIFamilyAL2023, archive)},
		"bottlerocket.toml":  {reason: "own settings are kept, ours win", class: testClass(awsv1.AMIFamilyBottlerocket, "[settings.kubernetes]\nkube-api-qps = 30\ncluster-name = 'mine'\n[settings.host-containers.admin]\nenabled = true\n")},
		"al2.txt":            {reason: "the bootstrap script with flags", class: testClass(awsv1.AMIFamilyAL2, "")},
		"al2-raid0.txt":      {reason: "local disks joined", class: testClass(awsv1.AMIFamilyAL2, ""), raid0: true},
		"al2-script.txt":     {reason: "an own script runs first", class: testClass(awsv1.AMIFamilyAL2, script)},
		"al2-archive.txt":    {reason: "own parts come first", class: testClass(awsv1.AMIFamilyAL2, archive)},
		"windows.txt":        {reason: "the bootstrap script of Windows", class: testClass(awsv1.AMIFamilyWindows2022, "")},
		"windows-script.txt": {reason: "own PowerShell runs first", class: testClass(awsv1.AMIFamilyWindows2019, "<powershell>\nWrite-Host 'it''s me'\n</powershell>\n")},
		"custom.txt":         {reason: "nothing is merged", class: testClass(awsv1.AMIFamilyCustom, script)},
	} {
		t.Run(name, func(t *testing.T) {
			if c.raid0 {
				c.class.Spec.InstanceStorePolicy = new(awsv1.InstanceStoreRAID0)
			}
			spec := testSpec()
			got, err := userData(c.class, joinOf(c.class, testCluster(), &spec))
			if err != nil {
				t.Fatalf("%s: %v", c.reason, err)
			}
			golden(t, name, got)
		})
	}
}

func TestUserDataRefuses(t *testing.T) {
	for name, c := range map[string]struct{ family, own, want string }{
		"not a format":     {awsv1.AMIFamilyAL2023, "hello world", "begins with \"hello world\""},
		"not multipart":    {awsv1.AMIFamilyAL2023, "MIME-Version: 1.0\nContent-Type: text/plain\n\nhello", "not multipart"},
		"cut off header":   {awsv1.AMIFamilyAL2023, "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=A\n\n--A\nContent-Ty", "part 1"},
		"not TOML":         {awsv1.AMIFamilyBottlerocket, "#!/bin/bash\necho", "TOML"},
		"wrong TOML shape": {awsv1.AMIFamilyBottlerocket, "settings = 3", "must be a table"},
		"no such family":   {"Gentoo", "", "is not a family"},
		"AL2 NodeConfig":   {awsv1.AMIFamilyAL2, "kind: NodeConfig", "AL2 takes"},
		"shell on Windows": {awsv1.AMIFamilyWindows2022, "#!/bin/sh", "PowerShell"},
		"open PowerShell":  {awsv1.AMIFamilyWindows2025, "<powershell>\nx", "no </powershell>"},
	} {
		t.Run(name, func(t *testing.T) {
			err := offlineProvider().Validate(testClass(c.family, c.own))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Validate = %v, want an error with %q", err, c.want)
			}
			if provider.KindOf(err) != provider.Invalid {
				t.Errorf("kind %s, want Invalid", provider.KindOf(err))
			}
		})
	}
}

// A kubelet setting that a family's images have no word for is refused, and not
// left out; AL2023 takes them all.
func TestKubeletSettingsThatAFamilyHasNot(t *testing.T) {
	for family, refused := range map[string]bool{
		awsv1.AMIFamilyAL2: true, awsv1.AMIFamilyBottlerocket: true, awsv1.AMIFamilyWindows2022: true, awsv1.AMIFamilyAL2023: false,
	} {
		class := testClass(family, "")
		class.Spec.Kubelet.Extra = map[string]json.RawMessage{"topologyManagerPolicy": json.RawMessage(`"restricted"`)}
		err := offlineProvider().Validate(class)
		if refused != (err != nil) || refused && !strings.Contains(err.Error(), "topologyManagerPolicy") {
			t.Errorf("%s: Validate = %v, want an error that names the setting: %t", family, err, refused)
		}
	}
}

// A deprecated image is taken where nothing else fits, however new it is.
func TestDeprecatedImagesComeLast(t *testing.T) {
	image := func(id, made, deprecated string) candidate {
		c := candidate{Image: types.Image{ImageId: sdk.String(id), CreationDate: sdk.String(made)}, requirements: fitting("amd64", "standard")}
		if deprecated != "" {
			c.DeprecationTime = sdk.String(deprecated)
		}
		return c
	}
	const now = "2026-08-03T10:00:00Z"
	for name, c := range map[string]struct {
		found []candidate
		want  string
		is    bool
	}{
		"an older one that is not": {[]candidate{image("new", "2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z"), image("old", "2025-01-01T00:00:00Z", "")}, "old", false},
		"later":                    {[]candidate{image("new", "2026-07-01T00:00:00Z", "2026-08-04T00:00:00Z"), image("old", "2025-01-01T00:00:00Z", "")}, "new", false},
		"all are":                  {[]candidate{image("old", "2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"), image("new", "2026-07-01T00:00:00Z", "2026-08-01T00:00:00Z")}, "new", true},
	} {
		got, err := newest(c.found, now)
		if err != nil || len(got) != 1 || got[0].ID != c.want || got[0].Deprecated != c.is {
			t.Errorf("%s: %+v, %v; want %s, deprecated %t", name, got, err, c.want, c.is)
		}
	}
}

func TestQuotes(t *testing.T) {
	if got := shellQuote("it's"); got != `'it'\''s'` {
		t.Errorf("shell: %s", got)
	}
	if got := powershellQuote("it's"); got != `'it''s'` {
		t.Errorf("PowerShell: %s", got)
	}
}

func FuzzOwnParts(f *testing.F) {
	f.Add("#!/bin/sh\n")
	f.Add("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"A\"\n\n--A\n\nx\n--A--")
	f.Add("kind: NodeConfig")
	f.Fuzz(func(t *testing.T, own string) {
		parts, err := ownParts(own, awsv1.AMIFamilyAL2023)
		if err != nil {
			return
		}
		archive, err := writeArchive(parts)
		if err != nil {
			t.Skip("no archive of these parts:", err)
		}
		if len(parts) > 0 && !strings.HasPrefix(archive, "MIME-Version: 1.0\n") {
			t.Errorf("archive begins with %q", head(archive))
		}
	})
}
