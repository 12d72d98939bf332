package isolate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/test/kit/eventually"
)

// bombed returns a policy that ends its process at a question about a node with seven
// pods: one call asks for 400 MB, at once, and the engine cannot stop in the middle of it.
func bombed() map[string]string {
	return map[string]string{"p.rego": `s := "` + strings.Repeat("a", 20_000) + `"
deny contains "x" if { input.candidate.pods == 7; contains(replace(s, substring("a", 0, input.candidate.pods - 6), s), input.candidate.node) }`}
}

// endProcess asks a bombed policy until it has ended its process: now and then the engine sees first
// that the heap grows, and stops the call by itself.
func endProcess(t *testing.T, bomb policy.Compiled, c *counts) {
	t.Helper()
	for range 20 {
		if _, err := ask(t, bomb, 7); err == nil {
			t.Error("no bomb")
		}
		if c.of("bomb") > 0 {
			return
		}
	}
	t.Fatal("the bomb has not ended its process in twenty questions")
}

// large returns a policy that takes a second or so to compile.
func large() *policy.Source {
	var b strings.Builder
	for i := 0; b.Len() < 200<<10; i++ {
		fmt.Fprintf(&b, "cost[\"rule %d\"] := %d if { input.candidate.zone == \"z%d\"; input.candidate.nodePoolLabels.team in {\"web%d\", \"data\"} }\n", i, i, i, i)
	}
	b.WriteString(good)
	return source("large", policy.HookConsolidate, map[string]string{"p.rego": b.String()})
}

// TestSlowToLoad: while a large policy is loaded, or loaded again after a bomb, the
// others are answered; it answers itself as soon as it is loaded, and nobody is at fault.
func TestSlowToLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	e, c := isolated()
	other := compile(t, e, source("good", policy.HookConsolidate, map[string]string{"p.rego": good}))
	bomb := compile(t, e, source("bomb", policy.HookConsolidate, bombed()))
	done := make(chan policy.Compiled)
	go func() {
		p, err := e.Compile(t.Context(), large())
		if err != nil {
			t.Errorf("the large policy: %v", err)
		}
		done <- p
	}()
	most := time.Duration(0)
	questions := func(until func() bool) {
		for !until() {
			begun := time.Now()
			askGood(t, other)
			most = max(most, time.Since(begun))
		}
	}
	var p policy.Compiled
	questions(func() bool {
		select {
		case p = <-done:
			return true
		default:
			return false
		}
	})
	if p == nil {
		return
	}
	defer p.Close(t.Context()) //nolint:errcheck // the end of a test
	t.Logf("the longest question while it was loaded: %v", most)
	askGood(t, p)
	endProcess(t, bomb, c)
	most = 0
	begun := time.Now()
	questions(func() bool {
		_, err := ask(t, p, 1)
		return err == nil || time.Since(begun) > patience
	})
	t.Logf("loaded again after %v; the longest question to the other meanwhile: %v; starts again: %d", time.Since(begun), most, c.again)
	askGood(t, p)
	if s := other.Stats(); s.Faults > 0 {
		t.Errorf("the other policy: %+v", s)
	}
	if c.of("large") > 0 || c.of("bomb") != 1 {
		t.Errorf("kills: %v", c.killed)
	}
}

// TestLoadingIsNotItsFault: a policy that is asked often while it is loaded again, after another one
// has ended their process, answers as soon as it is loaded. It is not switched off for the
// questions that came too early.
func TestLoadingIsNotItsFault(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	e, c := isolated()
	bomb := compile(t, e, source("bomb", policy.HookConsolidate, bombed()))
	src := large()
	src.Limits.Deadline = 50 * time.Millisecond // which loading takes many times
	p := compile(t, e, src)
	endProcess(t, bomb, c)
	early := 0
	for begun := time.Now(); ; {
		_, err := ask(t, p, 1)
		if err == nil {
			break
		}
		if f := (*policy.Fault)(nil); errors.As(err, &f) && f.NotAsked {
			early++
		}
		if strings.Contains(err.Error(), "after 3 faults in a row") && strings.Contains(err.Error(), "being loaded again") || time.Since(begun) > patience {
			t.Fatalf("after %d questions that came too early: %v", early, err)
		}
	}
	t.Logf("%d questions came too early", early)
}

// TestClosedWhileLoading: when the last policy is closed while a process that is to take
// another's place is prepared, neither stays.
func TestClosedWhileLoading(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	eventually.True(t, "the processes of other tests to end", func() bool { return len(processes(t)) == 0 })
	e, c := isolated()
	var all []policy.Compiled
	for _, src := range []*policy.Source{
		source("good", policy.HookConsolidate, map[string]string{"p.rego": good}),
		source("bomb", policy.HookConsolidate, bombed()),
		large(),
	} {
		p, err := e.Compile(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close(t.Context()) }) //nolint:errcheck // it may be closed already
		all = append(all, p)
	}
	endProcess(t, all[1], c)
	begun := time.Now()
	for range time.Tick(time.Millisecond) {
		if len(processes(t)) >= 2 { // the next process, and one that loads the large policy
			break
		}
		if time.Since(begun) > patience {
			t.Fatal("no process is prepared for the large policy")
		}
	}
	for _, p := range all {
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	eventually.True(t, "all processes to end", func() bool { return len(processes(t)) == 0 })
}
