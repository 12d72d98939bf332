// Package examples runs what the READMEs of the examples tell a new user to
// type, word for word, on the running product.
package examples

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/test/kit/controlplane"
	"spokeshave.dev/test/kit/harness"
)

// steps are the commands in a README: everything fenced as sh.
func steps(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, m := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(string(text), -1) {
		out.WriteString(m[1])
	}
	if out.Len() == 0 {
		t.Fatalf("%s has no steps", file)
	}
	return out.String()
}

// run runs commands in one shell, as somebody would who follows the demo's
// last words, and ends at the first that fails.
func run(ctx context.Context, t *testing.T, s *harness.Stack, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-eu", "-o", "pipefail", "-c", script)
	cmd.Dir = "../../.."
	cmd.Env = append(os.Environ(), "KUBECONFIG="+s.Cluster.Kubeconfig, "TMPDIR="+t.TempDir(),
		"PATH="+s.Cluster.Binaries.Dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	t.Logf("%s", out.Bytes())
	if err != nil {
		t.Fatalf("the steps fail: %v", err)
	}
	return out.String()
}

// cut splits the steps before the line that begins with a text.
func cut(t *testing.T, script, before string) (first, rest string) {
	t.Helper()
	i := strings.Index(script, "\n"+before)
	if i < 0 {
		t.Fatalf("no step %q", before)
	}
	return script[:i+1], script[i+1:]
}

// TestReadmes follows both READMEs on one cluster.
func TestReadmes(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	if _, err := controlplane.Build(t.Context(), os.Stderr); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skipf("no control plane to test against: %v", err)
	}
	decisions := filepath.Join(t.TempDir(), "decisions.jsonl")
	s, err := harness.Start(t.Context(), harness.Options{BootDelay: 300 * time.Millisecond, Log: os.Stderr, Values: []string{
		"controller.decisionLog.path=" + decisions, "controller.decisionLog.inputs=true",
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
	}()
	pools, err := os.ReadFile("../../../cmd/demo/manifests/pools.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), pools); err != nil {
		t.Fatal(err)
	}
	t.Run("wasm-rank-go", func(t *testing.T) { rank(t, s) })
	t.Run("rego-budget", func(t *testing.T) { budget(t, s) })
	t.Run("rehearse", func(t *testing.T) { rehearse(t, s, decisions) })
}

// rehearse: every decision that the controller made until now comes out the
// same, byte for byte, from its log; and what a snapshot of the cluster holds can
// be simulated.
func rehearse(t *testing.T, s *harness.Stack, decisions string) {
	out := run(t.Context(), t, s, `go build -o "$TMPDIR/spokeshave" ./cmd/spokeshave
"$TMPDIR/spokeshave" replay `+decisions+`
"$TMPDIR/spokeshave" replay `+decisions+` --policies examples/backtest/on-demand > /dev/null
"$TMPDIR/spokeshave" snapshot > "$TMPDIR/cluster.json.gz"
"$TMPDIR/spokeshave" simulate -f "$TMPDIR/cluster.json.gz" -o json > /dev/null
"$TMPDIR/spokeshave" snapshot --anonymize > "$TMPDIR/cluster.json.gz"
"$TMPDIR/spokeshave" simulate -f "$TMPDIR/cluster.json.gz" -o json > /dev/null
`)
	if n := strings.Count(out, ": the same "); n < 3 {
		t.Errorf("only %d decisions were replayed", n)
	}
}

// rank: no machine that comes after the policy is of the family to avoid.
func rank(t *testing.T, s *harness.Stack) {
	script, end := cut(t, steps(t, "../../../examples/wasm-rank-go/README.md"), "kubectl delete ")
	out := run(t.Context(), t, s, script)
	m := regexp.MustCompile(`the node is of the family (\w+)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatal("the first node's family is not told")
	}
	fleet, err := s.Fleet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	others := 0
	for i := range fleet {
		family, _, _ := strings.Cut(fleet[i].Type, ".")
		if family != m[1] {
			others++
		}
	}
	// Before the policy there was one node, or a few alike: four pods.
	if others == 0 || len(fleet)-others > 4 {
		t.Errorf("of %d machines %d are not of the family %s", len(fleet), others, m[1])
	}
	run(t.Context(), t, s, end)
}

// budget: the pods wait for the cap, whose policy they name, and run after it.
// That is what the steps themselves check; here it is that the cap was kept.
func budget(t *testing.T, s *harness.Stack) {
	script := steps(t, "../../../examples/rego-budget/README.md")
	out := run(t.Context(), t, s, script)
	for _, want := range []string{"spokeshave/team-budget: Active", "cap team-budget on cluster", `deployment "hello" successfully rolled out`} {
		if !strings.Contains(out, want) {
			t.Errorf("the steps do not print %q", want)
		}
	}
}
