package solver

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/effort"
)

// TestRestOfALargeCluster: in a cluster so large that the budget does not let every pod look
// at every place, pods with constraints on each other get places as they do in a small one.
func TestRestOfALargeCluster(t *testing.T) {
	s := smallCluster()
	tiered := s.Pools[0]
	tiered.Name = "tiered"
	tiered.Requirements = append(slices.Clone(tiered.Requirements), require("example.com/tier", model.In, "gold", "silver"))
	s.Pools = append(s.Pools, tiered)
	for i := range 2000 {
		n := model.Node{
			Name: fmt.Sprint("full-", i), Pool: -1, State: model.Unmanaged, Zone: "a", CapacityType: model.OnDemand,
			Allocatable: model.Resources{"cpu": 0, "memory": 0, "pods": 0},
		}
		n.Labels = map[string]string{constraint.LabelZone: n.Zone, constraint.LabelHostname: n.Name}
		s.Nodes = append(s.Nodes, n)
	}
	in := Input{Snapshot: s, Effort: DefaultEffort}
	pending(&in, 4400, 100, 1)
	pending(&in, 600, 1000, 1, labelled("x"), func(spec *model.PodSpec) {
		spec.PodAntiAffinity = []model.PodTerm{{Key: "example.com/tier", Selector: app("x")}}
	})
	if effort.New(len(in.Pods)).Affords(len(in.Pods) * len(s.Nodes)) {
		t.Fatal("every pod may look at every place: this test says nothing any more")
	}
	plan, stats := Solve(in)
	hold(t, 0, &in, &plan)
	if len(plan.Unplaced) > 0 {
		t.Errorf("%d of %d pods are left out: %v", len(plan.Unplaced), len(in.Pods), plan.Unplaced[0].Reasons)
	}
	t.Logf("%d moves, %d looks", stats.Moves, stats.Looks)
}

// TestRestHolds proves plans of random clusters that are treated as large ones, so that
// pods are planned in a second step: they hold, and no pod loses its place by that step.
func TestRestHolds(t *testing.T) {
	steps, more := 0, 0
	for seed := range seeds(40) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(120))
		in.Effort = DefaultEffort
		if seed%3 == 1 {
			g.policies(&in)
		}
		g.Topology()
		in.looks = 1
		without, _ := Solve(in)
		in.looks = max(1, len(in.Pods)*(len(in.Snapshot.Nodes)+len(without.Nodes)+1)-1)
		plan, stats := Solve(in)
		for _, v := range check.Plan(in.Snapshot, &plan, constraints(&in)) {
			t.Errorf("seed %d: %s", seed, v)
		}
		if len(plan.Unplaced) > len(without.Unplaced) {
			t.Errorf("seed %d: %d pods are left out, %d without the second step", seed, len(plan.Unplaced), len(without.Unplaced))
		}
		if slices.ContainsFunc(stats.Trials, func(x Trial) bool { return strings.HasPrefix(x.Question, restQuestion) }) {
			steps++
			more += len(without.Unplaced) - len(plan.Unplaced)
		}
	}
	if t.Logf("%d plans have a second step, which placed %d pods", steps, more); steps == 0 || more == 0 {
		t.Error("this test says nothing")
	}
}
