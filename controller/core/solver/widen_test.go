package solver

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spokeshave.dev/controller/core/model"
)

// TestSpotTolerance: more spot options change nothing else of a plan, and whichever of them
// is launched, the plan holds: limits and caps among it.
func TestSpotTolerance(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many plans, which is slow under the race detector; other tests run the same concurrent code")
	}
	const share = 1.0
	more := 0
	for seed := range seeds(90) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(80))
		switch seed % 3 {
		case 0:
			g.policies(&in)
		case 1:
			g.Topology()
		}
		narrow, _ := Solve(in)
		in.SpotTolerance = share
		wide, _ := Solve(in)
		if diff := cmp.Diff(narrow, wide, cmpopts.IgnoreFields(model.PlannedNode{}, "Options"), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("seed %d: more options change the plan (-narrow +wide):\n%s", seed, diff)
		}
		for i := range wide.Nodes {
			before, after := narrow.Nodes[i].Options, wide.Nodes[i].Options
			if len(after) < len(before) || !slices.Equal(before, after[:len(before)]) {
				t.Fatalf("seed %d: node %d had options %+v, and now %+v", seed, i, before, after)
			}
			for _, o := range after[len(before):] {
				more++
				if o.CapacityType != model.Spot || o.Effective > before[0].Effective*(1+share)+1e-9 {
					t.Errorf("seed %d: node %d may become %+v, planned was %+v", seed, i, o, before[0])
				}
			}
		}
		hold(t, seed, &in, &wide)
	}
	if t.Logf("%d options added", more); more < 100 {
		t.Errorf("%d options were added: too few to test anything", more)
	}
}
