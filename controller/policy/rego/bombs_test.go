package rego_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/policy/enginetest"
	"spokeshave.dev/controller/policy/rego"
)

// bombs go off at a candidate of no pods, and at no other.
func bombs() map[string]string {
	const fuse = `input.candidate.pods == 0; `
	return map[string]string{
		"time":   `deny contains "x" if { ` + fuse + `some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i * j == 0 - input.candidate.pods - 1 }`,
		"memory": `deny contains "x" if { ` + fuse + `count([sprintf("%d of many %d", [i, j]) | some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i > input.candidate.pods]) < 5 }`,
		"set":    `deny contains sprintf("%d%d", [i, j]) if { ` + fuse + `some i in numbers.range(1, 100000); some j in numbers.range(1, 100000); i > input.candidate.pods }`,
	}
}

func contents(settings, source string) enginetest.Contents {
	return enginetest.Contents{
		Settings: "hooks: [consolidate]\n" + settings,
		Data:     map[string]string{"p.rego": "package spokeshave.consolidate\n" + source},
	}
}

// TestBombs: in a decision, what a bomb does is what its failure policy says;
// another policy keeps answering; the status shows it; and the memory is back
// when the policy is gone.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, bomb := range bombs() {
		t.Run(name, func(t *testing.T) {
			suite := enginetest.Hostile{
				Engine: rego.Name, New: func() policy.Engine { return new(rego.Engine) }, Kept: 16 << 20,
				Bad:  contents("limits: {deadline: 60ms, memory: 32Mi}\n", bomb),
				Good: contents("priority: 1\n", `hold["a minute"] := 60 if input.candidate.node == "n"`),
				Ask:  consolidateBomb,
			}
			suite.Run(t)
		})
	}
}

func consolidateBomb(ctx context.Context, panel *policy.Panel, failure policy.FailurePolicy) error {
	in := &policy.ConsolidateInput{Call: moment, Candidates: []policy.Candidate{{Node: "n"}}}
	out := panel.Consolidate(ctx, in, func(*policy.Match, int) bool { return true })
	want := policy.Hold
	if failure == policy.Fail {
		want = policy.Deny
	}
	if out[0].Verdict != want {
		return fmt.Errorf("got %+v, want %s", out[0], want)
	}
	if good := panel.Uses()[1]; good.Denied != 1 {
		return fmt.Errorf("the other policy was not heard: %+v", good)
	}
	return nil
}

// TestAfterBomb: the call after a bomb is answered by the same policy.
func TestAfterBomb(t *testing.T) {
	for name, bomb := range bombs() {
		t.Run(name, func(t *testing.T) {
			bad, next := afterBomb(t, bomb)
			if err := bad(); err == nil {
				t.Error("no bomb")
			}
			if err := next(); err != nil {
				t.Errorf("the next call: %v", err)
			}
		})
	}
}

// BenchmarkAfterBomb measures what a bomb costs everybody else; "none" is a
// policy that faults at once.
func BenchmarkAfterBomb(b *testing.B) {
	all := bombs()
	all["none"] = `hold["x"] := 1 / input.candidate.pods`
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) {
			bomb, next := afterBomb(b, all[name])
			enginetest.After(b, bomb, next)
		})
	}
}

// afterBomb gives a call that a bomb goes off at, and one that it does not.
func afterBomb(t testing.TB, source string) (bomb, next func() error) {
	t.Helper()
	p, err := new(rego.Engine).Compile(t.Context(), &policy.Source{
		Info:   policy.Info{Name: "p", Hooks: []policy.Hook{policy.HookConsolidate}},
		Files:  map[string]string{"p.rego": "package spokeshave.consolidate\n" + source},
		Limits: policy.Limits{Deadline: 60 * time.Millisecond, Memory: 32 << 20},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(pods int) func() error {
		return func() error {
			_, err := p.Consolidate(t.Context(), &policy.ConsolidateInput{Call: moment, Candidates: []policy.Candidate{{Node: "n", Pods: pods}}})
			return err
		}
	}
	return ask(0), ask(1)
}
