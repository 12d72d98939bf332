package solver

import (
	"testing"

	"spokeshave.dev/controller/check"
)

// TestPlansHold proves the plans of random snapshots, with and without
// policies, by the independent checker.
func TestPlansHold(t *testing.T) {
	for seed := range uint64(400) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(120))
		if seed%2 == 1 {
			g.policies(&in)
		}
		plan, _ := Solve(in)
		for _, v := range check.Plan(in.Snapshot, &plan, constraints(&in)) {
			t.Errorf("seed %d: %s", seed, v)
		}
	}
}
