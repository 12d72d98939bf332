package solver

import (
	"fmt"
	"math"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
	"spokeshave.dev/test/kit/instancetype"
)

// local is an instance type with one offering.
func local(name string, cpu int64, o model.Offering) model.InstanceType {
	return instancetype.New(name, cpu, 64, 20, o)
}

// ask adds pods, the most urgent first.
func (in *Input) ask(cpus ...int64) {
	s := in.Snapshot
	for i, cpu := range cpus {
		s.Specs = append(s.Specs, model.PodSpec{Namespace: "a", Priority: int32(-i), Requests: model.Resources{"cpu": cpu, "memory": gib, "pods": 1}})
		s.Pods = append(s.Pods, model.Pod{Namespace: "a", Name: fmt.Sprint("pod-", i), Spec: int32(i), Node: -1})
		in.Pods = append(in.Pods, int32(i))
	}
}

// TestSqueezeKeepsReservations: the third pod has to join a node that there is, for
// there may be two. The first node could be the large reserved type as well as the
// small one, but the second has drawn its only place by then.
func TestSqueezeKeepsReservations(t *testing.T) {
	for free, want := range map[int]int{1: 1, 2: 0} {
		t.Run(fmt.Sprint("free=", free), func(t *testing.T) {
			s := &model.Snapshot{
				Catalogs: []model.Catalog{instancetype.Catalog(
					local("small", 2000, instancetype.OnDemand("a", model.PriceOf(1))),
					local("large", 8000, instancetype.Reserved("a", 1, model.Reservation{Free: free})),
				)},
				Pools: []model.Pool{{Name: "general", NodeClass: "default", Limits: model.Resources{"nodes": 2}, Usage: model.Resources{}}},
			}
			in := Input{
				Snapshot: s, Effort: DefaultEffort, Tolerance: DefaultTolerance,
				Costs: []supply.Costs{{{{Tiers: []supply.Tier{{Cost: 1}}}}, {{Tiers: []supply.Tier{{Cost: 1.05}}}}}},
			}
			in.ask(1500, 7000, 1500)
			plan, _ := Solve(in)
			hold(t, 0, &in, &plan)
			if len(plan.Unplaced) != want {
				t.Errorf("%d pods are left out, want %d", len(plan.Unplaced), want)
			}
		})
	}
}

// TestSqueezeMovesTiers: the third pod makes the first node a large one. Only one
// large node is cheap, and that is the second node already; the small one's tier is
// free again.
func TestSqueezeMovesTiers(t *testing.T) {
	for name, tc := range map[string]struct {
		reason       string
		small, large supply.Tier
	}{
		"nodes":  {"the first node counts", supply.Tier{Until: 1, Cost: 1}, supply.Tier{Until: 1, Cost: 1.05}},
		"shares": {"two parts of 0.6 are more than there is", supply.Tier{Cost: 1, Shares: []supply.Share{{Group: 6, Part: 0.6}}}, supply.Tier{Cost: 1.05, Shares: []supply.Share{{Group: 7, Part: 0.6}}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Catalogs: []model.Catalog{instancetype.Catalog(
					local("large", 8000, instancetype.OnDemand("a", model.PriceOf(5))),
					local("small", 2000, instancetype.OnDemand("a", model.PriceOf(4))),
				)},
				Pools: []model.Pool{{Name: "general", NodeClass: "default"}},
			}
			in := Input{
				Snapshot: s, Tolerance: DefaultTolerance,
				Costs: []supply.Costs{{{{Tiers: []supply.Tier{tc.large}}}, {{Tiers: []supply.Tier{tc.small}}}}},
			}
			in.ask(1500, 7000, 1400)
			p := problem.New(in.problem(s.Specs))
			a := newAttempt(p, in.options(), []int32{0, 0, 1}, mode{})
			large, small := twoOffers(p, t)
			for c, o := range []int32{small, large} {
				n := &planned{set: vec.NewBits(2)}
				n.set.SetRange(0, 2)
				n.join(&p.Classes[c], problem.ClassCount{Class: int32(c), N: 1})
				if !a.accept(n, o, a.b.cost[o]) {
					t.Fatalf("node %d is not accepted", c)
				}
				a.nodes = append(a.nodes, n)
			}
			if len(a.nodes[0].options) != 2 || a.b.cost[small] != 4 || a.b.cost[large] != 5 {
				t.Fatalf("options %v, costs %v: the tiers should be full", a.nodes[0].options, a.b.cost)
			}
			a.topUp()
			if a.left[2] != 0 || a.nodes[0].options[0] != large {
				t.Fatalf("%d pods left, first node %v", a.left[2], a.nodes[0].options)
			}
			if got := a.effective(); math.Abs(got-6.05) > 1e-9 {
				t.Errorf("%s: the plan costs %.2f in effect, want 1.05 and 5", tc.reason, got)
			}
			if a.b.cost[small] != 1 || a.b.used[small] != 0 || a.b.used[large] != 2 {
				t.Errorf("small costs %.2f and is used %d times, large %d times, want 1.00, 0 and 2", a.b.cost[small], a.b.used[small], a.b.used[large])
			}
		})
	}
}

// twoOffers finds the only two offers.
func twoOffers(p *problem.Problem, tb testing.TB) (large, small int32) {
	tb.Helper()
	for o := range p.Supply.Offers {
		if p.Supply.OfferType(int32(o)).Name == "small" {
			small = int32(o)
		} else {
			large = int32(o)
		}
	}
	return large, small
}
