package solver

import (
	"slices"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/model"
)

// TestManyConstrainedPods: no number of pods is too large for a pod to get the place that
// it would get among fewer.
func TestManyConstrainedPods(t *testing.T) {
	s := smallCluster()
	// The nodes of one pool are of a tier, those of the other of none. Anti-affinity by tier
	// allows one pod on all nodes of a tier, and any number on nodes without one.
	tiered := s.Pools[0]
	tiered.Name = "tiered"
	tiered.Requirements = append(slices.Clone(tiered.Requirements), require("example.com/tier", model.In, "gold", "silver"))
	s.Pools = append(s.Pools, tiered)
	in := Input{Snapshot: s, Effort: DefaultEffort}
	pending(&in, 600, 1000, 1, labelled("x"), func(spec *model.PodSpec) {
		spec.PodAntiAffinity = []model.PodTerm{{Key: "example.com/tier", Selector: app("x")}}
	})
	plan, stats := Solve(in)
	hold(t, 0, &in, &plan)
	if len(plan.Unplaced) > 0 {
		t.Errorf("%d of %d pods are left out: %v", len(plan.Unplaced), len(in.Pods), plan.Unplaced[0].Reasons)
	}
	if first := stats.Trials[0].Unplaced; first == 0 {
		t.Error("packing places all of them: this test says nothing any more")
	}
	if !slices.ContainsFunc(stats.Trials, func(x Trial) bool { return x.Won && strings.HasPrefix(x.Strategy, "insert") }) {
		t.Errorf("the plan is not one of the insertions")
	}
}
