package commit

import (
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
	"spokeshave.dev/test/kit/instancetype"
)

// twoTypes are what may be launched: small and large nodes at such prices in USD/hour,
// as long as there is headroom.
type twoTypes struct {
	small, large, headroom float64
	costs                  []supply.Costs
}

// planned asks for pods of so many CPUs and plans a small node for each of the first ones.
func (x twoTypes) planned(tb testing.TB, nodes int, cpus ...int64) *Attempt {
	tb.Helper()
	s := &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(
			instancetype.New("large", 8000, 64, 20, instancetype.OnDemand("a", model.PriceOf(x.large))),
			instancetype.New("small", 2000, 64, 20, instancetype.OnDemand("a", model.PriceOf(x.small))),
		)},
		Pools: []model.Pool{{Name: "general", NodeClass: "default"}},
	}
	p, options := ask(s, x.costs, requesting(cpus...)...)
	options.Headroom = []model.Headroom{{Left: model.PriceOf(x.headroom)}}
	left := make([]int32, len(cpus))
	for c := nodes; c < len(cpus); c++ {
		left[c] = 1
	}
	a := newAttempt(p, options, left, mode{strictOptions: true})
	_, o := twoOffers(p, tb)
	for c := range nodes {
		n := &Node{Set: vec.NewBits(2)}
		n.Set.SetRange(0, 2)
		n.Join(&p.Classes[c], problem.ClassCount{Class: int32(c), N: 1})
		if !a.accept(n, o, a.Bounds.Cost[o]) {
			tb.Fatalf("node %d is not accepted", c)
		}
		a.Nodes = append(a.Nodes, n)
	}
	return a
}

// TestGrowLeavesTiers: the second node is planned at its price, for the tier was full.
// It cannot become what holds a pod too large for anything, and stays as it is, although
// the tier has room again: what it is said to cost is what it takes.
func TestGrowLeavesTiers(t *testing.T) {
	costs := []supply.Costs{{{}, {{Tiers: []supply.Tier{{Cost: 1, Shares: []supply.Share{{Group: 6, Part: 0.6}}}}}}}}
	a := twoTypes{4, 5, 100, costs}.planned(t, 2, 1500, 1500, 9000)
	first, second := a.Nodes[0], a.Nodes[1]
	_, small := twoOffers(a.p, t)
	if len(first.shares) != 1 || len(second.shares) != 0 || a.Bounds.Cost[small] != 4 {
		t.Fatalf("the nodes take %v and %v of the tier, and then small costs %.2f: want one, none and 4", first.shares, second.shares, a.Bounds.Cost[small])
	}
	a.Nodes = a.Nodes[1:]
	a.Bounds.unuse(small, first.shares)
	order := &a.Bounds.ByCost[0][0]
	if (&enlarger{a: a}).run(); a.Left[2] != 1 {
		t.Fatal("nothing holds the third pod")
	}
	if len(second.shares) != 0 || a.Bounds.Cost[small] != 1 || a.OptionCost(second, 0) != 4 {
		t.Errorf("the node costs %.2f and takes %v of the tier, after which small costs %.2f: want 4, nothing and 1",
			a.OptionCost(second, 0), second.shares, a.Bounds.Cost[small])
	}
	if order != &a.Bounds.ByCost[0][0] {
		t.Error("offers were put in another order to find that nothing holds the pod")
	}
}

// TestGrowCounts: looks at nodes that could be larger are bounded, and count among the
// moves of a solve.
func TestGrowCounts(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		before int
		// grown and moves are how many nodes become larger, and what that is counted as.
		grown, moves int
	}{
		"few":  {"all become large ones; who comes looks at those before as well", 0, effort.EnlargedInMove, (effort.EnlargedInMove + 1) / 2},
		"last": {"only the first is tried", maxTried - 1, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			cpus := make([]int64, 2*effort.EnlargedInMove)
			for i := range cpus {
				cpus[i] = 1500
				if i >= effort.EnlargedInMove {
					cpus[i] = 6000
				}
			}
			a := twoTypes{4, 5, 1000, nil}.planned(t, effort.EnlargedInMove, cpus...)
			(&enlarger{a: a, tries: tc.before}).run()
			grown := effort.EnlargedInMove
			for _, n := range a.Left {
				grown -= int(n)
			}
			if grown != tc.grown || a.Options.Work.Moves() != tc.moves {
				t.Errorf("%s: %d nodes are larger after %d moves, want %d after %d", tc.reason, grown, a.Options.Work.Moves(), tc.grown, tc.moves)
			}
		})
	}
}

// TestSqueezeGivesBack: the node could have been the small type, which is dearer by its
// price. With a second pod it is not, and the difference may be spent.
func TestSqueezeGivesBack(t *testing.T) {
	costs := []supply.Costs{{{{Tiers: []supply.Tier{{Cost: 1.05}}}}, {{Tiers: []supply.Tier{{Cost: 1}}}}}}
	a := twoTypes{5, 3, 10, costs}.planned(t, 1, 1500, 1500)
	if got := a.Bounds.headroom[0]; got != model.PriceOf(5) || len(a.Nodes[0].Options) != 2 {
		t.Fatalf("%v $/h left, and %d options, want 5 and 2", got, len(a.Nodes[0].Options))
	}
	if a.topUp(); a.Left[1] != 0 {
		t.Fatal("the second pod has room")
	}
	if got := a.Bounds.headroom[0]; got != model.PriceOf(7) {
		t.Errorf("%v $/h left, want 7", got.USD())
	}
}
