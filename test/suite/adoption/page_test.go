package adoption

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/test/kit/karpenter"
	"spokeshave.dev/test/kit/page"
	"spokeshave.dev/test/kit/source"
)

// manual is what operators follow.
const manual = "docs/migrate/from-karpenter.md"

func karpenterRuns(t *testing.T, pods int) {
	t.Helper()
	if err := karpenter.Runs(t.Context(), stack, pods); err != nil {
		t.Fatal(err)
	}
}

// there runs the page's commands up to the installation.
func there(t *testing.T, _ *state) {
	folder := t.TempDir()
	for section, want := range map[string]int{"## Before": 2, "## There": 4} {
		if n := commands(t, section); len(n) != want {
			t.Errorf("section %q has %d commands, want %d", section, len(n), want)
		}
	}
	follow(t, "## Before", folder)
	follow(t, "## There", folder)
	karpenterRuns(t, 0)
}

// home runs the page's commands for the way back. Everything of Karpenter's stays.
func home(t *testing.T, _ *state) {
	before := take(t)
	if n := commands(t, "## Back"); len(n) != 4 {
		t.Errorf("%d commands lead back, want 4", len(n))
	}
	follow(t, "## Back", t.TempDir())
	karpenterRuns(t, 2)
	if runs, err := stack.AsDeployed(t.Context()); runs || err != nil {
		t.Errorf("the controller runs: %t, %v", runs, err)
	}
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

// commands are the numbered commands of a section, and those of its list.
func commands(t *testing.T, section string) []string {
	t.Helper()
	text, err := stack.Source(manual)
	if err != nil {
		t.Fatal(err)
	}
	out, err := page.Commands(string(text), section)
	if err != nil {
		t.Fatalf("%s: %v", manual, err)
	}
	return out
}

// follow runs the commands of a section as they are written, in a folder. What needs AWS
// is left out.
func follow(t *testing.T, section, folder string) {
	t.Helper()
	root, err := source.Root()
	if err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$CLUSTER", karpenter.ClusterName, "$REGISTRY", "registry.example", "$CHART", filepath.Join(root, "charts", "spokeshave"),
		"values.yaml", filepath.Join(folder, "values.yaml"))
	for _, command := range commands(t, section) {
		line, file, _ := strings.Cut(variables.Replace(command), " > ")
		words := strings.Fields(line)
		run := map[string]func(context.Context, ...string) (string, error){"kubectl": stack.Kubectl, "helm": stack.Helm, "spokeshave": stack.Spokeshave}[words[0]]
		if run == nil {
			if words[0] != "aws" {
				t.Fatalf("%s: nobody can run %s", manual, command)
			}
			continue
		}
		out, err := run(t.Context(), words[1:]...)
		if err != nil {
			t.Fatalf("%s: %s: %v\n%s", manual, command, err, out)
		}
		if file != "" {
			if err := os.WriteFile(file, []byte(out), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// healthy: once both leases are held, doctor finds nothing that a person has to do, as the
// page says.
func healthy(t *testing.T, _ *state) {
	text, err := stack.Source(manual)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok := strings.Cut(string(text), "\nThen look:\n")
	if !ok || !strings.Contains(after, "\n    spokeshave doctor\n") {
		t.Fatalf("%s does not say how to look afterwards", manual)
	}
	wait(t, "doctor to find nothing wrong", 2*time.Minute, func(ctx context.Context) (string, bool) {
		out, err := stack.Spokeshave(ctx, "doctor", "--last", "0")
		return fmt.Sprintf("%s%v", out, err), err == nil && strings.Contains(out, "Spokeshave runs, and nothing is wrong with it")
	})
}
