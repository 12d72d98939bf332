package isolate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
)

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
	bomb := compile(t, e, source("bomb", policy.HookConsolidate, map[string]string{
		"p.rego": `deny contains "x" if { s := concat("", ["abcdefghijklmnop" | some i in numbers.range(1, 20000000 + input.candidate.pods)]); contains(s, input.candidate.node) }`,
	}))
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
	if _, err := ask(t, bomb, 1); err == nil {
		t.Error("no bomb")
	}
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
