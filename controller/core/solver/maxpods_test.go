package solver

import (
	"fmt"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/test/kit/instancetype"
)

// TestFewNodesManyPods: a NodePool may launch one node more. Nodes that would serve all
// pods mix large and small ones; the one that there is goes to as many as it holds,
// the most urgent first.
func TestFewNodesManyPods(t *testing.T) {
	kind := func(name string, cpu, gib int64, usd float64) model.InstanceType {
		return instancetype.New(name, cpu, gib, 100, instancetype.OnDemand("a", model.PriceOf(usd)))
	}
	for name, tc := range map[string]struct {
		reason string
		// urgent is how many of the large pods are so.
		urgent int
		// want is how many find a place.
		want int
	}{
		"alike":  {reason: "twelve small pods, and none of the large", want: 12},
		"urgent": {reason: "a large one, and the small ones that fit beside it", urgent: 1, want: 10},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Catalogs: []model.Catalog{instancetype.Catalog(
					kind("narrow", 4000, 8, 0.3), kind("wide", 16_000, 16, 0.9), kind("wider", 16_000, 24, 1.3),
				)},
				Pools: []model.Pool{{Name: "general", NodeClass: "default", Limits: model.Resources{"nodes": 1}, Usage: model.Resources{}}},
				Specs: []model.PodSpec{
					{Namespace: "shop", Requests: model.Resources{model.CPU: 1000, model.Memory: 6 << 30, model.PodSlots: 1}},
					{Namespace: "shop", Requests: model.Resources{model.CPU: 1000, model.Memory: 2 << 30, model.PodSlots: 1}},
					{Namespace: "shop", Priority: 100, Requests: model.Resources{model.CPU: 1000, model.Memory: 6 << 30, model.PodSlots: 1}},
				},
			}
			in := Input{Snapshot: s, Blocked: make([]*model.Reason, 1), Costs: make([]supply.Costs, 1), Effort: DefaultEffort, Tolerance: DefaultTolerance}
			for i := range 30 {
				spec := int32(i % 2)
				if spec == 0 && i/2 < tc.urgent {
					spec = 2
				}
				s.Pods = append(s.Pods, model.Pod{UID: fmt.Sprint(i), Namespace: "shop", Name: fmt.Sprint(i), Spec: spec, Node: -1})
				in.Pods = append(in.Pods, int32(i))
			}
			plan, _ := Solve(in)
			if got := len(s.Pods) - len(plan.Unplaced); got != tc.want || len(plan.Nodes) != 1 {
				t.Errorf("%s: %d pods on %d nodes, want %d on one", tc.reason, got, len(plan.Nodes), tc.want)
			}
		})
	}
}
