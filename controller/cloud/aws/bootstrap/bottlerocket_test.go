package bootstrap

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pelletier/go-toml/v2"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/awstest"
	"spokeshave.dev/controller/core/model"
)

// FuzzBottlerocket: whatever the class's own settings are, the instance gets TOML that says what
// the controller must know of the node, whatever the class says of it, and keeps the rest, or the
// error names the field. Settings that were merged once are not changed by merging them again.
func FuzzBottlerocket(f *testing.F) {
	for _, own := range []string{
		"", "[settings.kubernetes]\nmax-pods = 42\n[settings.kubernetes.node-labels]\na = \"own\"\nb = \"own\"", "[settings.kubernetes.node-taints]\nx = [\"y:NoSchedule\"]",
		"settings = 1", "seTtings = 1", "[settings]\nkubernetes = []", "[settings.kubernetes]\nnode-labels = \"x\"", "a = 1979-05-27\nb = [1, [2.5, nan, inf]]\nc.d = '''x'''", "[[settings.x]]\n[[settings.x]]\ny = 1", "a = 1\na = 2", "[settings.bootstrap-commands]\nx = 1",
		"settings.kubernetes.cluster-name = \"mine\"\n\"settings\".motd = \"\\u0000\"",
	} {
		f.Add(own)
	}
	in := Node{
		Cluster: Cluster{Name: "the-cluster", Endpoint: "https://x", CA: "Y2E="}, Labels: map[string]string{"a": "ours", "k.io/é": "\"'\\"},
		Taints: []model.Taint{{Key: "t", Value: "v", Effect: model.NoSchedule}}, RAID0: true,
	}
	f.Fuzz(func(t *testing.T, own string) {
		got, err := UserData(awstest.Class(awsv1.AMIFamilyBottlerocket, own), in)
		if err != nil {
			if got != "" || !strings.Contains(err.Error(), "spec.userData") {
				t.Errorf("%q and %v", got, err)
			}
			return
		}
		checkOurs(t, got, &in)
		if again, err := UserData(awstest.Class(awsv1.AMIFamilyBottlerocket, got), in); err != nil || again != got {
			t.Errorf("merged again: %v\n%s\nwas\n%s", err, again, got)
		}
		checkKept(t, own, got)
	})
}

// checkOurs fails unless the user data says what the controller must know of the node.
func checkOurs(t *testing.T, got string, in *Node) {
	t.Helper()
	var all map[string]any
	if err := toml.Unmarshal([]byte(got), &all); err != nil {
		t.Fatalf("what was written is no TOML: %v\n%s", err, got)
	}
	settings, _ := all["settings"].(map[string]any)
	kubernetes, _ := settings["kubernetes"].(map[string]any)
	for name, want := range map[string]any{
		"cluster-name": in.Cluster.Name, "api-server": in.Cluster.Endpoint, "cluster-certificate": in.Cluster.CA,
		"node-taints": map[string]any{"t": []any{"v:NoSchedule"}},
	} {
		if diff := cmp.Diff(want, kubernetes[name]); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
	labels, _ := kubernetes["node-labels"].(map[string]any)
	for name, value := range in.Labels {
		if labels[name] != value {
			t.Errorf("label %s is %v, want %q", name, labels[name], value)
		}
	}
	if commands, _ := settings["bootstrap-commands"].(map[string]any); commands[instanceStoreCommand] == nil {
		t.Errorf("no disks are joined:\n%s", got)
	}
}

// checkKept fails if a setting of the class that is none of Kubernetes is not in the user data.
func checkKept(t *testing.T, own, got string) {
	t.Helper()
	var before, after map[string]any
	if err := toml.Unmarshal([]byte(own), &before); err != nil {
		t.Fatalf("what is no TOML was taken: %v", err)
	}
	if err := toml.Unmarshal([]byte(got), &after); err != nil {
		t.Fatal(err)
	}
	for name := range before {
		if _, kept := after[name]; !kept {
			t.Errorf("%s is lost", name)
		}
	}
	settings, _ := before["settings"].(map[string]any)
	for name := range settings {
		if _, kept := after["settings"].(map[string]any)[name]; !kept {
			t.Errorf("settings.%s is lost", name)
		}
	}
}
