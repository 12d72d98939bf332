package disrupt

import (
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/instancetype"
)

// TestInstead: a node of one large and two small pods goes. The large pod is planned
// for the node that stays, and each of the small ones, in zones of their own, for a
// small node. A scheduler that sees a small pod first puts it on the node that stays:
// either the large pod gets a node besides, or the new ones are large enough for
// anything. The first is cheaper, the second is one answer of the solver's. (The node besides
// is cheap: otherwise launching it only when it is needed would gain more.)
func TestInstead(t *testing.T) {
	room := func(cpu int64) model.Resources {
		return model.Resources{model.CPU: cpu, model.Memory: cpu << 20, model.PodSlots: 10}
	}
	kind := func(name string, cpu int64, usd float64, zones ...string) model.InstanceType {
		out := instancetype.Of(name, room(cpu))
		for _, zone := range zones {
			out.Offerings = append(out.Offerings, instancetype.OnDemand(zone, model.PriceOf(usd)))
		}
		return out
	}
	want := func(cpu int64, selector map[string]string) model.PodSpec {
		return model.PodSpec{Namespace: "shop", NodeSelector: selector, Requests: model.Resources{model.CPU: cpu, model.PodSlots: 1}}
	}
	node := func(name string, usd float64, cpu int64) model.Node {
		return model.Node{
			Name: name, Claim: name, State: model.Initialized, Zone: "a", CapacityType: model.OnDemand, Price: model.PriceOf(usd), Allocatable: room(cpu),
			Labels: map[string]string{"topology.kubernetes.io/zone": "a"},
		}
	}
	for name, tc := range map[string]struct {
		reason string
		policy string
		price  float64 // of the node that goes
		saves  []float64
	}{
		"both":     {reason: "the cheaper first, and the other in its stead", price: 5, saves: []float64{3.91, 3.35}},
		"dear":     {reason: "the other does not pay", price: 1.6, saves: []float64{0.51}},
		"unworthy": {reason: "the other saves too little for the disruption", policy: "Balanced", price: 1.68, saves: []float64{0.59}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Catalogs: []model.Catalog{instancetype.Catalog(
					kind("small a", 2000, 0.04, "a"), kind("small b", 2000, 1, "b"), kind("medium", 4000, 0.05, "a"), kind("large", 6000, 1.6, "b"),
				)},
				Pools: []model.Pool{{Name: "general", NodeClass: "default", Disruption: model.Disruption{Policy: tc.policy}}},
				Specs: []model.PodSpec{want(4000, nil), want(2000, map[string]string{"topology.kubernetes.io/zone": "a"}), want(2000, map[string]string{"topology.kubernetes.io/zone": "b"})},
				Nodes: []model.Node{node("goes", tc.price, 8000), node("stays", 1, 4000)},
			}
			for i := range s.Specs {
				s.Pods = append(s.Pods, model.Pod{UID: string(rune('a' + i)), Namespace: "shop", Name: string(rune('a' + i)), Spec: int32(i)})
			}
			in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 1), Costs: make([]solver.Costs, 1), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
			sc := NewProjection(NewSurvey(s, nil), &in, nil)
			p := sc.Consolidate([]int32{0})
			for i, saves := range tc.saves {
				if p == nil || p.Saves() < saves-1e-6 || p.Saves() > saves+1e-6 || p.Sim.Widened != (i == 0) {
					t.Fatalf("%s: proposal %d is %+v, want one that saves %g $/h", tc.reason, i, p, saves)
				}
				p = p.Instead
			}
			if p != nil {
				t.Errorf("%s: one more that saves %g $/h", tc.reason, p.Saves())
			}
		})
	}
}

// TestOneLargeNode: a node of a large and a small pod goes. The large one is planned for the
// node that stays and the small one for a small node. A scheduler that sees the small one
// first puts it on the node that stays. A node besides for the large one costs too much; one
// new node with room for both does not.
func TestOneLargeNode(t *testing.T) {
	room := func(cpu int64) model.Resources {
		return model.Resources{model.CPU: cpu, model.Memory: cpu << 20, model.PodSlots: 10}
	}
	kind := func(name string, cpu int64, usd float64) model.InstanceType {
		out := instancetype.Of(name, room(cpu))
		out.Offerings = append(out.Offerings, instancetype.OnDemand("a", model.PriceOf(usd)))
		return out
	}
	node := func(name string, usd float64, cpu int64) model.Node {
		return model.Node{
			Name: name, Claim: name, State: model.Initialized, Zone: "a", CapacityType: model.OnDemand, Price: model.PriceOf(usd), Allocatable: room(cpu),
			Labels: map[string]string{"topology.kubernetes.io/zone": "a"},
		}
	}
	cheap, dear := [3]float64{0.1, 0.3, 0.35}, [3]float64{0.7, 1, 1.05} // of 2, 4 and 6 vCPUs
	for name, tc := range map[string]struct {
		reason string
		costs  [3]float64
		price  float64 // of the node that goes
		saves  float64 // 0 for no proposal
	}{
		"large": {"1.05 for one node with room for both, where 0.7 and 1 would not pay", dear, 1.6, 0.55},
		"both":  {"one node with room for both is cheaper than two", dear, 2, 0.95},
		"more":  {"one node with room for both saves 0.15, and 0.4 less 0.19 what is launched for a pod that waits", cheap, 0.5, 0.4},
		"waits": {"neither pays; in the mean what is launched for a pod that waits does", cheap, 0.34, 0.24},
		"none":  {"nor does that", cheap, 0.24, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Catalogs: []model.Catalog{instancetype.Catalog(kind("small", 2000, tc.costs[0]), kind("medium", 4000, tc.costs[1]), kind("large", 6000, tc.costs[2]))},
				Pools:    []model.Pool{{Name: "general", NodeClass: "default"}},
				Nodes:    []model.Node{node("goes", tc.price, 8000), node("stays", 1, 4000)},
			}
			for i, cpu := range []int64{4000, 2000} {
				s.Specs = append(s.Specs, model.PodSpec{Namespace: "shop", Requests: model.Resources{model.CPU: cpu, model.PodSlots: 1}})
				s.Pods = append(s.Pods, model.Pod{UID: string(rune('a' + i)), Namespace: "shop", Name: string(rune('a' + i)), Spec: int32(i)})
			}
			in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 1), Costs: make([]solver.Costs, 1), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
			p := NewProjection(NewSurvey(s, nil), &in, nil).Consolidate([]int32{0})
			switch {
			case tc.saves == 0 && p != nil:
				t.Errorf("%s: one that saves %g $/h", tc.reason, p.Saves())
			case tc.saves > 0 && (p == nil || p.Saves() < tc.saves-1e-6 || p.Saves() > tc.saves+1e-6):
				t.Errorf("%s: proposal is %+v, want one that saves %g $/h", tc.reason, p, tc.saves)
			}
		})
	}
}
