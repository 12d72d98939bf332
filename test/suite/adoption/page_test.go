package adoption

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/source"
)

// page is what operators follow.
const page = "docs/migrate/from-karpenter.md"

// karpenter stands for Karpenter's Deployment: its pods do nothing.
const karpenter = `apiVersion: apps/v1
kind: Deployment
metadata: {name: karpenter, namespace: kube-system}
spec:
  replicas: 2
  selector: {matchLabels: {app.kubernetes.io/name: karpenter}}
  template:
    metadata: {labels: {app.kubernetes.io/name: karpenter}}
    spec:
      nodeSelector: {kubernetes.io/hostname: system-1}
      tolerations: [{operator: Exists}]
      containers: [{name: controller, image: karpenter}]
`

func startKarpenter(t *testing.T) {
	t.Helper()
	if err := stack.Apply(t.Context(), []byte(karpenter)); err != nil {
		t.Fatal(err)
	}
	karpenterRuns(t, 2)
}

func karpenterRuns(t *testing.T, pods int) {
	t.Helper()
	wait(t, "Karpenter's pods", time.Minute, stack.Running("kube-system", map[string]string{"app.kubernetes.io/name": "karpenter"}, pods))
}

// there runs the page's commands up to the installation, which the stack has done: of
// that, the values are tried.
func there(t *testing.T, _ *state) {
	if n := follow(t, "## There"); n != 4 {
		t.Errorf("%d commands lead there, want 4", n)
	}
	karpenterRuns(t, 0)
}

// home runs the page's commands for the way back. Everything of Karpenter's stays.
func home(t *testing.T, _ *state) {
	before := take(t)
	if n := follow(t, "## Back"); n != 4 {
		t.Errorf("%d commands lead back, want 4", n)
	}
	karpenterRuns(t, 2)
	// Nodes of instances that were booting may join meanwhile.
	after := take(t)
	for kind, names := range map[string][2]map[string]bool{
		"NodeClaim": {before.claims, after.claims}, "Node": {before.nodes, after.nodes}, "instance": {before.instances, after.instances},
	} {
		for name := range names[0] {
			if !names[1][name] {
				t.Errorf("%s %s has gone on the way back", kind, name)
			}
		}
	}
	var pools karpv1.NodePoolList
	if err := stack.Client.List(t.Context(), &pools); err != nil || len(pools.Items) != 13 {
		t.Errorf("%d NodePools are left, want 13: %v", len(pools.Items), err)
	}
	left, err := stack.Pods(t.Context(), "spokeshave", nil)
	if err != nil || len(left) > 0 {
		t.Errorf("%d pods of the release are left: %v", len(left), err)
	}
	if err := stack.Client.Get(t.Context(), client.ObjectKey{Namespace: "spokeshave", Name: "spokeshave"}, &corev1.ServiceAccount{}); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the release's ServiceAccount is left: %v", err)
	}
}

// follow runs the numbered commands of a section and counts them. What needs AWS is
// left out.
func follow(t *testing.T, section string) int {
	t.Helper()
	text, err := stack.Source(page)
	if err != nil {
		t.Fatal(err)
	}
	root, err := source.Root()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n"+section+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", page, section)
	}
	rest, _, _ = strings.Cut(rest, "\n## ")
	count := 0
	for line := range strings.Lines(rest) {
		command, ok := strings.CutPrefix(line, "       ")
		if !ok {
			continue
		}
		count++
		words := strings.Fields(strings.ReplaceAll(command, "$CLUSTER", clusterName))
		run := stack.Kubectl
		switch {
		case words[0] == "aws":
			continue
		case words[0] == "helm" && words[1] == "install":
			words[1] = "template"
			run = stack.Helm
		case words[0] == "helm":
			run = stack.Helm
		case words[0] != "kubectl":
			t.Fatalf("%s: nobody can run %s", page, command)
		}
		for i, word := range words {
			words[i] = strings.Replace(word, "$CHART", filepath.Join(root, "charts", "spokeshave"), 1)
		}
		if out, err := run(t.Context(), words[1:]...); err != nil {
			t.Fatalf("%s: %s: %v\n%s", page, command, err, out)
		}
	}
	return count
}
