package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/rehearse/convert"
	"spokeshave.dev/test/kit/apiserver"
	"spokeshave.dev/test/kit/controlplane"
)

const groupFiles = "../../controller/rehearse/convert/testdata/"

// converted returns a file with what convert makes of a document, without a TO DO.
func converted(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := command(t, append([]string{"convert", "--role", "shop-nodes"}, args...)...)
	if code != exitOK || strings.Contains(stdout, "TO DO") {
		t.Fatalf("exit %d: %s%s", code, stdout, stderr)
	}
	path := filepath.Join(t.TempDir(), "nodepools.yaml")
	if err := os.WriteFile(path, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestConvert: the answer in both formats, and exit codes that tell what is missing.
func TestConvert(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.json")
	if err := os.WriteFile(empty, []byte(`{"AutoScalingGroups": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reason string
		args   []string
		code   int
		stderr string
	}{
		"no file":        {"a file is needed", nil, exitBadInput, "-f is missing"},
		"no group":       {"an empty answer of AWS is most likely the wrong region", []string{"-f", empty}, exitBadInput, "no node group"},
		"other document": {"the message says what can be read", []string{"-f", "../../examples/iam/controller-policy.json"}, exitBadInput, "controller-policy.json: want what aws autoscaling"},
		"no template":    {"the launch template of a group is another document", []string{"-f", groupFiles + "asg.json", "--role", "r"}, exitUnscheduled, "\n  NodePool "},
		"no role":        {"eksctl makes roles that its file does not name", []string{"-f", groupFiles + "eksctl.yaml"}, exitUnscheduled, ": role: no document names the IAM role of the nodes: give --role"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, _, stderr := command(t, append([]string{"convert"}, c.args...)...); code != c.code || !strings.Contains(stderr, c.stderr) {
				t.Errorf("%s: exit %d, %s; want %d, %s", c.reason, code, stderr, c.code, c.stderr)
			}
		})
	}
	var r convert.Result
	code, stdout, stderr := command(t, "convert", "-f", groupFiles+"managed.json", "-o", "json")
	if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != exitOK || len(r.NodePools) != 1 || len(r.Classes) != 1 || len(r.Notes) == 0 {
		t.Errorf("exit %d: %v, %s%s", code, err, stdout, stderr)
	}
}

// TestConvertedIsSimulated: pods that a group took get nodes of its NodePool, of the
// group's types.
func TestConvertedIsSimulated(t *testing.T) {
	pods := filepath.Join(t.TempDir(), "pods.yaml")
	if err := os.WriteFile(pods, []byte(`apiVersion: apps/v1
kind: Deployment
metadata: {name: train, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec:
      nodeSelector: {accelerator: nvidia}
      tolerations: [{key: nvidia.com/gpu, operator: Exists}]
      containers: [{name: c, image: train, resources: {requests: {cpu: "3", nvidia.com/gpu: "1"}}}]
`), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := command(t, "simulate", "--region", "eu-west-1", "-f", converted(t, "-f", groupFiles+"managed.json"), "-f", pods)
	if code != exitOK || strings.Count(stdout, "g5.xlarge") < 1 {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

// TestConvertedIsTaken: an API server takes the manifests as they are.
func TestConvertedIsTaken(t *testing.T) {
	if testing.Short() {
		t.Skip("needs an API server")
	}
	c := apiserver.On(t, controlplane.ForTest(t, false)).Client(t)
	for _, document := range []string{"eksctl.yaml", "managed.json"} {
		text, err := os.ReadFile(converted(t, "-f", groupFiles+document))
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), "\n---\n") {
			o := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(part), &o.Object); err != nil {
				t.Fatal(err)
			}
			if err := c.Create(t.Context(), o); err != nil {
				t.Errorf("%s: %s %s: %v", document, o.GetKind(), o.GetName(), err)
			}
		}
	}
}
