package commit

import (
	"fmt"
	"math"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
	"spokeshave.dev/test/kit/instancetype"
)

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
					instancetype.New("large", 8000, 64, 20, instancetype.OnDemand("a", model.PriceOf(5))),
					instancetype.New("small", 2000, 64, 20, instancetype.OnDemand("a", model.PriceOf(4))),
				)},
				Pools: []model.Pool{{Name: "general", NodeClass: "default"}},
			}
			p, o := ask(s, []supply.Costs{{{{Tiers: []supply.Tier{tc.large}}}, {{Tiers: []supply.Tier{tc.small}}}}}, requesting(1500, 7000, 1400)...)
			a := newAttempt(p, o, []int32{0, 0, 1}, mode{})
			large, small := twoOffers(p, t)
			for c, o := range []int32{small, large} {
				n := &Node{Set: vec.NewBits(2)}
				n.Set.SetRange(0, 2)
				n.Join(&p.Classes[c], problem.ClassCount{Class: int32(c), N: 1})
				if !a.accept(n, o, a.Bounds.Cost[o]) {
					t.Fatalf("node %d is not accepted", c)
				}
				a.Nodes = append(a.Nodes, n)
			}
			if len(a.Nodes[0].Options) != 2 || a.Bounds.Cost[small] != 4 || a.Bounds.Cost[large] != 5 {
				t.Fatalf("options %v, costs %v: the tiers should be full", a.Nodes[0].Options, a.Bounds.Cost)
			}
			a.topUp()
			if a.Left[2] != 0 || a.Nodes[0].Options[0] != large {
				t.Fatalf("%d pods left, first node %v", a.Left[2], a.Nodes[0].Options)
			}
			if got := a.Effective(); math.Abs(got-6.05) > 1e-9 {
				t.Errorf("%s: the plan costs %.2f in effect, want 1.05 and 5", tc.reason, got)
			}
			if a.Bounds.Cost[small] != 1 || a.Bounds.used[small] != 0 || a.Bounds.used[large] != 2 {
				t.Errorf("small costs %.2f and is used %d times, large %d times, want 1.00, 0 and 2", a.Bounds.Cost[small], a.Bounds.used[small], a.Bounds.used[large])
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

// ask returns a problem of one pod of each spec, and the options of its plans.
func ask(s *model.Snapshot, costs []supply.Costs, specs ...model.PodSpec) (*problem.Problem, Options) {
	in := problem.Input{Supply: supply.Question{Snapshot: s, Costs: costs}, Required: specs}
	s.Specs = specs
	for i := range specs {
		s.Pods = append(s.Pods, model.Pod{Namespace: specs[i].Namespace, Name: fmt.Sprint("pod-", i), Spec: int32(i), Node: -1})
		in.Pods = append(in.Pods, int32(i))
	}
	return problem.New(&in), Options{Tolerance: 0.15, MaxOptions: 60, Work: &effort.Work{}}
}

// requesting returns specs that request so many CPUs, in millicores, the most urgent
// first.
func requesting(cpus ...int64) []model.PodSpec {
	var out []model.PodSpec
	for i, cpu := range cpus {
		out = append(out, model.PodSpec{Namespace: "a", Priority: int32(-i), Requests: model.Resources{"cpu": cpu, "memory": 1 << 30, "pods": 1}})
	}
	return out
}
