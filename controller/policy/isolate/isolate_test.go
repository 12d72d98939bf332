package isolate_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/engine"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/rego"
	"spokeshave.dev/test/kit/eventually"
)

const good = `hold["a minute"] := 60 if input.candidate.node == "n"`

func ask(t *testing.T, p policy.Policy, pods int) (policy.ConsolidateAnswer, error) {
	t.Helper()
	got, err := p.Consolidate(t.Context(), &policy.ConsolidateInput{Call: moment, Candidates: []policy.Candidate{{Node: "n", Pods: pods}}})
	if err != nil {
		return policy.ConsolidateAnswer{}, err
	}
	return got[0], nil
}

func askGood(t *testing.T, p policy.Policy) {
	t.Helper()
	got, err := ask(t, p, 1)
	want := policy.ConsolidateAnswer{Verdict: policy.Hold, HoldSeconds: 60, Reason: "a minute"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("the other policy: %v\n%s", err, diff)
	}
}

// TestSameAsInProcess: what an engine says about a policy does not depend on where it
// runs: answers, faults, notes and mistakes.
func TestSameAsInProcess(t *testing.T) {
	apart, _ := isolated()
	here := engine.All()[rego.Name]
	for name, text := range map[string]string{
		"answers":  `deny contains input.candidate.node if input.candidate.pods > 3` + "\n" + `cost["pods"] := input.candidate.pods * 2`,
		"fault":    `hold["x"] := 1 / (input.candidate.pods - 1)`,
		"note":     `deny contains "x" if count([k | some k, _ in input.candidate.labels]) == 0`,
		"mistake":  `deny contains "x" if input.candidate.nodee == "n"`,
		"syntax":   `deny contains`,
		"no rules": `x := 1`,
		"badreply": `hold["x"] := 0 - input.candidate.pods`,
	} {
		t.Run(name, func(t *testing.T) {
			files := func() map[string]string { return map[string]string{"p.rego": text} }
			a, errA := here.Compile(t.Context(), source("p", policy.HookConsolidate, files()))
			b, errB := apart.Compile(t.Context(), source("p", policy.HookConsolidate, files()))
			if diff := cmp.Diff(said(errA), said(errB)); diff != "" {
				t.Fatalf("compile: -here +apart\n%s", diff)
			}
			if errA != nil {
				return
			}
			defer b.Close(t.Context()) //nolint:errcheck // the end of a test
			if diff := cmp.Diff(a.Info(), b.Info()); diff != "" {
				t.Errorf("info: -here +apart\n%s", diff)
			}
			for _, pods := range []int{0, 1, 5} {
				gotA, errA := ask(t, a, pods)
				gotB, errB := ask(t, b, pods)
				if diff := cmp.Diff(gotA, gotB) + cmp.Diff(said(errA), said(errB)); diff != "" {
					t.Errorf("%d pods: -here +apart\n%s", pods, diff)
				}
			}
			if diff := cmp.Diff(a.Stats(), b.Stats()); diff != "" {
				t.Errorf("stats: -here +apart\n%s", diff)
			}
		})
	}
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestProcess: there is one process for all policies, which is confined, has no
// environment and nothing open but its pipes, and ends with the last policy.
func TestProcess(t *testing.T) {
	t.Setenv("SECRET", "token")
	eventually.True(t, "the processes of other tests to end", func() bool { return len(processes(t)) == 0 })
	e, c := isolated()
	one, err := e.Compile(t.Context(), source("one", policy.HookConsolidate, map[string]string{"p.rego": good}))
	if err != nil {
		t.Fatal(err)
	}
	two, err := e.Compile(t.Context(), source("two", policy.HookConsolidate, map[string]string{"p.rego": good}))
	if err != nil {
		t.Fatal(err)
	}
	askGood(t, one)
	askGood(t, two)
	pids := processes(t)
	if len(pids) != 1 || c.first != 1 || c.again != 0 {
		t.Fatalf("processes %v, %d starts, %d again", pids, c.first, c.again)
	}
	if c.kernelHasNotIt != "" {
		t.Logf("this kernel lacks %s", c.kernelHasNotIt)
	}
	folder := filepath.Join("/proc", pids[0])
	if env, err := os.ReadFile(filepath.Join(folder, "environ")); err != nil || len(env) > 0 {
		t.Errorf("environment %q, %v", env, err)
	}
	for _, f := range open(t, folder) {
		// The runtime reads the limits of the container before the process is confined.
		if !strings.HasPrefix(f, "pipe:") && !strings.HasPrefix(f, "anon_inode:") && f != "/dev/null" && !strings.HasPrefix(f, "/sys/fs/cgroup/") {
			t.Errorf("it has %s open", f)
		}
	}
	for _, p := range []policy.Compiled{one, two} {
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if pids := processes(t); len(pids) != 0 {
		t.Errorf("processes %v without a policy", pids)
	}
	askGood(t, one) // a decision that began before
}

func open(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(folder, "fd"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		name, err := os.Readlink(filepath.Join(folder, "fd", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, name)
	}
	return out
}

// processes are the numbers of this test's processes of policies.
func processes(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(all) == 0 {
		t.Skip("needs /proc/self/task/*/children")
	}
	var out []string
	for _, f := range all {
		text, err := os.ReadFile(f)
		if err != nil {
			continue // a thread that has ended
		}
		out = append(out, strings.Fields(string(text))...)
	}
	return out
}

// TestJudgeOnly: the webhook's engine judges and keeps nothing.
func TestJudgeOnly(t *testing.T) {
	eventually.True(t, "the processes of other tests to end", func() bool { return len(processes(t)) == 0 })
	e := isolate.New(isolate.Config{Engine: rego.Name, JudgeOnly: true})
	p, err := e.Compile(t.Context(), source("p", policy.HookConsolidate, map[string]string{"p.rego": good}))
	if err != nil {
		t.Fatal(err)
	}
	if pids := processes(t); len(pids) != 0 {
		t.Errorf("processes %v stay", pids)
	}
	var fault *policy.Fault
	if _, err := ask(t, p, 1); !errors.As(err, &fault) {
		t.Errorf("asked: %v", err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := e.Compile(t.Context(), source("p", policy.HookConsolidate, map[string]string{"p.rego": "deny contains"})); err == nil {
		t.Error("a mistake passes")
	}
}

// TestWithdrawn: a caller that stops waiting gets its own error, and the policy is not
// at fault.
func TestWithdrawn(t *testing.T) {
	e, c := isolated()
	p := compile(t, e, source("p", policy.HookConsolidate, map[string]string{"p.rego": `deny contains "x" if { input.candidate.pods == 0; some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i * j == 0 - 1 }`}))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	in := &policy.ConsolidateInput{Call: moment, Candidates: []policy.Candidate{{Node: "n"}}}
	if _, err := p.Consolidate(ctx, in); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("withdrawn: %v", err)
	}
	if _, err := ask(t, p, 1); err != nil {
		t.Errorf("the next question: %v", err)
	}
	if s := p.Stats(); s.Faults != 0 || c.of("p") != 0 {
		t.Errorf("%+v, %d kills", s, c.of("p"))
	}
}
