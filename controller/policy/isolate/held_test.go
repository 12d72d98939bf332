package isolate_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/isolate"
	"spokeshave.dev/controller/policy/load"
	"spokeshave.dev/controller/policy/rego"
)

// numbers are data that take some 7 MiB for every 90,000.
func numbers(n int) string { return "{\"numbers\": [" + strings.Repeat("1,", n) + "1]}" }

// TestHeldIsMeasured: what is dropped after loading, such as the text of tests, makes a policy
// neither larger nor smaller than it is.
func TestHeldIsMeasured(t *testing.T) {
	e, _ := isolated()
	held := func(name, more string) uint64 {
		p := compile(t, e, source(name, policy.HookConsolidate, map[string]string{
			"p.rego": good, "data.json": numbers(30_000), "p_test.rego": "package spokeshave.consolidate\ntest_a if 1 == 1\n" + more,
		}))
		return isolate.Holds(p)
	}
	plain, long := held("plain", ""), held("long", strings.Repeat("# nothing\n", 19_000))
	if least := plain - plain/20; plain < 1<<20 || long < least {
		t.Errorf("with data only %d bytes, with 190 KB of comments beside it %d", plain, long)
	}
}

// TestReplacedAtItsShare: policies that fill their share can all be replaced before an earlier
// version is closed. Those leave the process when there is too little memory for both.
func TestReplacedAtItsShare(t *testing.T) {
	e := isolate.New(isolate.Config{Engine: rego.Name, Memory: 128 << 20})
	version := func(i, v int) (policy.Compiled, error) {
		p, err := e.Compile(t.Context(), source(fmt.Sprintf("p%d", i), policy.HookConsolidate, map[string]string{
			"p.rego": fmt.Sprintf("# version %d\n", v) + good, "data.json": numbers(120_000),
		}))
		if err == nil {
			t.Cleanup(func() { p.Close(t.Context()) }) //nolint:errcheck // the end of a test
		}
		return p, err
	}
	var all []policy.Compiled
	for {
		p, err := version(len(all), 1)
		if err != nil {
			if !load.Transient(err) || !strings.Contains(err.Error(), "all policies together may take 64 MiB") {
				t.Fatalf("policy %d: %v", len(all), err)
			}
			break
		}
		all = append(all, p)
	}
	stay := 0
	for i, before := range all {
		after, err := version(i, 2)
		if err != nil {
			t.Fatalf("version 2 of policy %d of %d: %v", i, len(all), err)
		}
		if isolate.Loaded(before) {
			stay++
			askGood(t, before) // by a decision that has begun before
		} else if _, err := ask(t, before, 1); err == nil || !strings.Contains(err.Error(), "a newer version of the policy has taken its place") {
			t.Errorf("version 1 of policy %d, which had to leave: %v", i, err)
		}
		askGood(t, after)
	}
	if stay == 0 || stay == len(all) {
		t.Errorf("of %d versions %d stayed", len(all), stay)
	}
}

// TestLeavesWhenItMust: where the memory for both versions was expected to be there and was not, the
// new one is loaded without the old one, and the other policies stay.
func TestLeavesWhenItMust(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory, which the race detector takes for itself")
	}
	e := isolate.New(isolate.Packed(rego.Name, 128<<20))
	version := func(name string, v int) policy.Compiled {
		return compile(t, e, source(name, policy.HookConsolidate, map[string]string{
			"p.rego": fmt.Sprintf("# version %d\n", v) + good, "data.json": numbers(120_000),
		}))
	}
	other := version("other", 1)
	var all []policy.Compiled
	for v := range 16 {
		all = append(all, version("p", v))
		askGood(t, all[v])
	}
	askGood(t, other)
	if isolate.Loaded(all[0]) {
		t.Error("the first of sixteen versions of 9 MiB is still in a process of 128 MiB")
	}
}

// TestShareIsJudged: the webhook refuses what would not fit with nothing beside it.
func TestShareIsJudged(t *testing.T) {
	e := isolate.New(isolate.Config{Engine: rego.Name, Memory: 64 << 20, JudgeOnly: true})
	src := source("p", policy.HookConsolidate, map[string]string{"p.rego": good, "data.json": numbers(120_000)})
	src.Info.Namespace, src.Info.Match = "team-a", policy.Match{Scope: &policy.Scope{}, Namespace: "team-a"}
	if _, err := e.Compile(t.Context(), src); err == nil || load.Transient(err) || !strings.Contains(err.Error(), "may take 8 MiB") {
		t.Errorf("beyond an eighth: %v", err)
	}
	src.Info.Namespace, src.Info.Match = "spokeshave", policy.Match{}
	if _, err := e.Compile(t.Context(), src); err != nil {
		t.Errorf("the administrator's: %v", err)
	}
}

// TestCrowded: a policy that has passed its trial is tried again when there is no memory for it
// beside the others, and its author reads so.
func TestCrowded(t *testing.T) {
	err := isolate.Crowded(&policy.Fault{Kind: policy.FaultMemory, Message: "the process ended"})
	if !load.Transient(err) || !strings.Contains(err.Error(), "raise --rego-memory") {
		t.Errorf("no memory: %v", err)
	}
	mistake := errors.New("p.rego:1: a mistake")
	if got := isolate.Crowded(mistake); !errors.Is(got, mistake) {
		t.Errorf("a mistake: %v", got)
	}
}

// TestLoadedOnce: however many questions come while a policy is loaded again, it is loaded once.
func TestLoadedOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	e, c := isolated()
	bomb := compile(t, e, source("bomb", policy.HookConsolidate, bombed()))
	p := compile(t, e, large())
	endProcess(t, bomb, c)
	for i := range 10 {
		ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
		_, _ = p.Consolidate(ctx, &policy.ConsolidateInput{Call: moment, Candidates: []policy.Candidate{{Node: "n"}}})
		stop()
		stacks := make([]byte, 4<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		if n := strings.Count(string(stacks), "isolate.(*host).replace("); n > 2 { // after the bomb, and for questions
			t.Fatalf("%d calls load it after %d questions", n, i+1)
		}
	}
}
