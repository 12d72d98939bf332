package solver

import (
	"fmt"
	"math"
	"testing"

	"spokeshave.dev/controller/model"
)

// TestNodeCost checks that what a node costs besides its instance keeps a plan
// from shattering into nodes that are cheap only by themselves.
func TestNodeCost(t *testing.T) {
	kind := func(name string, vcpu int64, price model.Price) model.InstanceType {
		return model.InstanceType{
			Name: name, Arch: "amd64", OS: "linux",
			Capacity:    model.Resources{"cpu": vcpu * 1000, "memory": vcpu * 4 * gib, "pods": 110},
			Allocatable: model.Resources{"cpu": vcpu * 1000, "memory": vcpu * 4 * gib, "pods": 110},
			Offerings:   []model.Offering{{Zone: "a", CapacityType: model.OnDemand, Price: price, Available: true}},
		}
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
				Catalogs: []model.Catalog{{
					NodeClass: "default", NodeCost: tc.cost,
					Types: []model.InstanceType{kind("small", 1, 40_000), kind("large", 8, 330_000)},
				}},
				Pools: []model.Pool{{Name: "general", NodeClass: "default"}},
				Specs: []model.PodSpec{{Requests: model.Resources{"cpu": 1000, "memory": gib, "pods": 1}}},
			}
			in := Input{Snapshot: s, Bound: true}
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

// TestBoundHolds compares plans with the lower bound, which no plan may beat.
func TestBoundHolds(t *testing.T) {
	for seed := range seeds(40) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(120))
		g.plain(&in)
		for c := range g.s.Catalogs {
			g.s.Catalogs[c].NodeCost = model.Price(g.IntN(3) * 2500)
		}
		in.Effort = DefaultEffort
		plan, stats := Solve(in)
		hold(t, seed, &in, &plan)
		bound, cost := LowerBound(in), stats.Effective+stats.Fixed.USD()
		if bound > cost*(1+1e-4)+1e-6*float64(len(plan.Nodes)) || math.IsNaN(bound) {
			t.Errorf("seed %d: the plan costs %.6f $/h, the bound is %.6f", seed, cost, bound)
		}
	}
}
