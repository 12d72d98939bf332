package solver

import (
	"slices"
	"testing"

	"spokeshave.dev/controller/core/model"
)

// TestPromising: of the insertions that leave out as few pods as the best plan, those of
// different cost are packed again, the cheapest one first. A plan that leaves out more takes the turn of none that costs the same.
func TestPromising(t *testing.T) {
	plan := func(unplaced int, cost float64) outcome {
		return outcome{Plan: &model.Plan{Unplaced: make([]model.Unplaced, unplaced)}, stats: &Stats{Effective: cost}}
	}
	s := search{best: plan(1, 3)}
	s.in.Snapshot = &model.Snapshot{Specs: make([]model.PodSpec, 1), Pods: make([]model.Pod, 1)}
	for _, p := range []outcome{plan(2, 5), plan(1, 5), plan(1, 5), plan(1, 3), plan(4, 2)} {
		s.candidates = append(s.candidates, &inserted{plan: p})
	}
	var costs []float64
	for _, x := range s.promising() {
		if len(x.plan.Unplaced) != 1 {
			t.Errorf("an insertion is chosen that leaves out %d pods", len(x.plan.Unplaced))
		}
		costs = append(costs, x.plan.cost())
	}
	if want := []float64{3, 5}; !slices.Equal(costs, want) {
		t.Errorf("insertions of cost %v are packed again, want %v", costs, want)
	}
}
