package solver

import (
	"fmt"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

// TestNodeCost checks that what a node costs besides its instance keeps a plan
// from shattering into nodes that are cheap only by themselves.
func TestNodeCost(t *testing.T) {
	kind := func(name string, vcpu int64, price model.Price) model.InstanceType {
		return instancetype.New(name, vcpu*1000, vcpu*4, 110, instancetype.OnDemand("a", price))
	}
	cases := map[string]struct {
		reason string
		cost   model.Price
		nodes  int
	}{
		"Free":  {reason: "without a cost of its own, eight small nodes are a little cheaper than one large", cost: 0, nodes: 8},
		"Costs": {reason: "a volume and an address for each of eight nodes cost more than the large node", cost: 5_000, nodes: 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Catalogs: []model.Catalog{instancetype.Catalog(kind("small", 1, 40_000), kind("large", 8, 330_000))},
				Pools:    []model.Pool{{Name: "general", NodeClass: "default"}},
				Specs:    []model.PodSpec{{Requests: model.Resources{"cpu": 1000, "memory": gib, "pods": 1}}},
			}
			s.Catalogs[0].NodeCost = tc.cost
			in := Input{Snapshot: s}
			for i := range 8 {
				s.Pods = append(s.Pods, model.Pod{Namespace: "x", Name: fmt.Sprint(i), Node: -1})
				in.Pods = append(in.Pods, int32(i))
			}
			for _, effort := range []int{0, DefaultEffort} {
				in.Effort = effort
				plan, stats := Solve(in)
				if len(plan.Nodes) != tc.nodes {
					t.Errorf("%s: want %d nodes, got %d (effort %d)", tc.reason, tc.nodes, len(plan.Nodes), effort)
				}
				if want := tc.cost * model.Price(tc.nodes); stats.Fixed != want {
					t.Errorf("effort %d: fixed cost: want %v, got %v", effort, want, stats.Fixed)
				}
			}
		})
	}
}
