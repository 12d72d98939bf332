package solver

import (
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// TestNobodyFirst: the scheduler never binds pods whose affinities form a cycle, whatever
// the keys. They are left out, and all other pods are placed.
func TestNobodyFirst(t *testing.T) {
	keys := []string{constraint.LabelHostname, constraint.LabelZone, constraint.LabelCapacityType}
	for _, one := range keys {
		for _, two := range keys {
			ring(t, one, two)
			for _, three := range keys {
				ring(t, one, two, three)
			}
		}
	}
}

// ring plans for pods each of which wants the next one near.
func ring(t *testing.T, keys ...string) {
	t.Helper()
	in := Input{Snapshot: smallCluster(), Effort: DefaultEffort}
	for i, key := range keys {
		pending(&in, 2, 500, 1, labelled(string(rune('x'+i))), follow(key, string(rune('x'+(i+1)%len(keys)))))
	}
	pending(&in, 1, 500, 1)
	plan, stats := Solve(in)
	hold(t, 0, &in, &plan)
	if len(plan.Nodes) != 1 || len(plan.Nodes[0].Pods) != 1 || stats.Pods != len(in.Pods) {
		t.Errorf("%v: planned %+v for %d pods, want a node for the last one alone", keys, plan.Nodes, stats.Pods)
	}
	for _, u := range plan.Unplaced {
		if len(u.Reasons) == 0 || u.Reasons[0].Code != model.PodAffinity {
			t.Errorf("%v: pod %d is left out for %+v, want PodAffinity", keys, u.Pod, u.Reasons)
		}
	}
}

// TestSomebodyFirst: a cycle of affinities is placed if one of its pods may be bound
// first, or if a running pod satisfies one of the affinities.
func TestSomebodyFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		setup  func(*Input, *model.Snapshot)
	}{
		"ItsOwnKind": {
			reason: "the first x is bound beside nobody, for it wants its like",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 2, 500, 1, labelled("x"), follow(constraint.LabelZone, "x"))
			},
		},
		"AnotherX": {
			reason: "an x that wants nobody is there for y, and y for the other x",
			setup: func(in *Input, _ *model.Snapshot) {
				pending(in, 1, 500, 1, labelled("x"))
				pending(in, 1, 500, 1, labelled("x"), follow(constraint.LabelHostname, "y"))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Snapshot: smallCluster(), Effort: DefaultEffort}
			tc.setup(&in, in.Snapshot)
			pending(&in, 2, 500, 1, labelled("y"), follow(constraint.LabelZone, "x"))
			plan, _ := Solve(in)
			hold(t, 0, &in, &plan)
			if len(plan.Unplaced) > 0 {
				t.Errorf("%s, but %d pods are left out: %+v", tc.reason, len(plan.Unplaced), plan.Unplaced[0].Reasons)
			}
		})
	}
}
