package solver_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/solver"
)

// recreation is what the trials of ruin and recreate did to a plan of 60 diverse pods.
func recreation(t *testing.T, seed uint64, change func(*solver.Input)) (before, after float64, ran bool) {
	t.Helper()
	in := scenario(t, "diverse", 60)
	r := rand.New(rand.NewPCG(seed, 5))
	in.Snapshot.Specs = nil
	for i := range in.Snapshot.Pods {
		in.Snapshot.Specs = append(in.Snapshot.Specs, diverse(r))
		in.Snapshot.Pods[i].Spec = int32(i)
	}
	change(&in)
	plan, stats := solver.Solve(in)
	for _, v := range check.Plan(in.Snapshot, &plan, check.Constraints{Pods: in.Pods}) {
		t.Errorf("seed %d: %s", seed, v)
	}
	if again, _ := solver.Solve(in); !cmp.Equal(plan, again) {
		t.Errorf("seed %d: another plan the second time", seed)
	}
	for i := range stats.Trials {
		x := &stats.Trials[i]
		switch {
		case x.Strategy == "ruin and recreate":
			ran = true
		case x.Dropped == "" && x.Unplaced == 0 && (before == 0 || x.Cost < before):
			before = x.Cost
		}
	}
	return before, stats.Effective + stats.Fixed.USD(), ran
}

// TestRecreate: ruin and recreate makes the plans of few pods with constraints on each other
// cheaper, by a hundredth in sum, and none dearer.
func TestRecreate(t *testing.T) {
	sum, was := 0.0, 0.0
	for seed := range uint64(6) {
		before, after, ran := recreation(t, seed, func(*solver.Input) {})
		if !ran || after > before*(1+1e-9) {
			t.Errorf("seed %d: ran %t, %f in place of %f $/h", seed, ran, after, before)
		}
		sum, was = sum+after, was+before
	}
	if sum > 0.99*was {
		t.Errorf("%f in place of %f $/h", sum, was)
	}
}

// TestRecreateLeavesAlone are the inputs whose plans are not made again.
func TestRecreateLeavesAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(*solver.Input)
	}{
		"without effort": {"questions about what nodes would cost are asked by the hundred", func(in *solver.Input) { in.Effort = 0 }},
		"candidate":      {"a search for consolidations compares plans by the hundred", func(in *solver.Input) { in.Candidate = true }},
		"weights":        {"inserting a pod does not look at the weight of the NodePool of a node that is open", func(in *solver.Input) { in.Snapshot.Pools[0].Weight = 10 }},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, ran := recreation(t, 1, tc.change); ran {
				t.Error("it ran: " + tc.reason)
			}
		})
	}
}
