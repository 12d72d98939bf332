package solver_test

import (
	"testing"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// spotLimit is a scenario in which a NodePool on demand has no limits and one on spot does.
func spotLimit(tb testing.TB, mix string, n int, weight int32, limits model.Resources) solver.Input {
	tb.Helper()
	in := scenario(tb, mix, n)
	onDemand := &in.Snapshot.Pools[0]
	spot, others := *onDemand, onDemand.Requirements
	only := func(capacity string) []model.Requirement {
		return append([]model.Requirement{{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: []string{capacity}}}, others...)
	}
	spot.Name, spot.Weight, spot.Limits, spot.Usage, spot.Requirements = "spot", weight, limits, model.Resources{}, only("spot")
	onDemand.Requirements = only("on-demand")
	in.Snapshot.Pools = append(in.Snapshot.Pools, spot)
	return in
}

// TestLimitedPool: what the limits of a NodePool leave goes to the nodes that save most by it.
func TestLimitedPool(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		mix    string
		pods   int
		weight int32
		limits model.Resources
		// most is the cost as a share of that of the first attempt, which takes no account of limits.
		most float64
	}{
		"one node":          {"it can be one that holds all pods", "web", 50, 0, model.Resources{model.NodeCount: 1}, 0.25},
		"preferred":         {"weights change nothing of that", "web", 50, 10, model.Resources{model.NodeCount: 1}, 0.25},
		"a few nodes":       {"they can be large", "webspread", 1000, 10, model.Resources{model.NodeCount: 11}, 0.25},
		"CPU":               {"it goes to the nodes that save most for their CPU", "webspread", 1000, 0, model.Resources{model.CPU: 300_000}, 0.98},
		"few pods a node":   {"pods apart from each other need many nodes, not all of them dear", "diverse", 1000, 0, model.Resources{model.NodeCount: 11}, 0.95},
		"limits not in use": {"there is nothing to try", "web", 50, 0, model.Resources{model.NodeCount: 1000}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			in := spotLimit(t, tc.mix, tc.pods, tc.weight, tc.limits)
			plan, stats := solver.Solve(in)
			for _, v := range check.Plan(in.Snapshot, &plan, check.Constraints{Pods: in.Pods}) {
				t.Error(v)
			}
			if len(plan.Unplaced) > 0 {
				t.Errorf("%d pods are left out", len(plan.Unplaced))
			}
			first := stats.Trials[0].Cost
			if modes := stats.Trials[0].Modes; modes != nil {
				first = modes[0].Cost
			}
			if tried := stats.Trials[0].Modes != nil; tried != (tc.most < 1) {
				t.Errorf("%s: other modes tried: %t", tc.reason, tried)
			}
			if cost := stats.Effective + stats.Fixed.USD(); cost > tc.most*first {
				t.Errorf("%s: %.4f in place of %.4f $/h", tc.reason, cost, first)
			}
		})
	}
}

// TestLimitedPoolWithoutEffort: questions without effort, which are asked by the hundred, are
// answered by the first attempt.
func TestLimitedPoolWithoutEffort(t *testing.T) {
	in := spotLimit(t, "web", 50, 0, model.Resources{model.NodeCount: 1})
	in.Effort = 0
	if _, stats := solver.Solve(in); stats.Trials[0].Modes != nil {
		t.Errorf("modes tried: %v", stats.Trials[0].Modes)
	}
}
