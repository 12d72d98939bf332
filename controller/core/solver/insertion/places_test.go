package insertion

import (
	"cmp"
	"slices"
	"testing"

	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/test/kit/random"
)

// TestOpenings: a pod may open a node in every partition that has an offer with room for it, the
// heaviest pools come first, and where it is cheapest; and insertions that share their places get
// the same ones, one with a fixed zone others.
func TestOpenings(t *testing.T) {
	asked, heavier := 0, 0
	for seed := range uint64(120) {
		g := random.New(seed)
		q := g.Question(20)
		p := problem.New(&problem.Input{
			Supply: supply.Question{Snapshot: g.Snapshot}, Prepared: supply.NewCache(), Pods: q.Pods, Required: g.Snapshot.Specs,
		})
		hosts := p.Hosts()
		space := domains.NewSpace(p, hosts)
		counts := domains.NewCounts(space, commit.NewHoldings(p, nil).Affordable())
		var shared Places
		found := shared.of(p, space, hosts, counts, &Strategy{})
		if found == nil {
			continue // too many kinds of them
		}
		if shared.of(p, space, hosts, counts, &Strategy{BestFit: true}) != found {
			t.Fatalf("seed %d: strategies of one kind do not share their places", seed)
		}
		if shared.of(p, space, hosts, counts, &Strategy{FixedZone: true}) == found {
			t.Fatalf("seed %d: a strategy with a fixed zone has the places of one without", seed)
		}
		for c := range p.Classes {
			var want []opening
			for i := range found.partitions {
				x := &found.partitions[i]
				if at := found.firstOffers.of(int32(c), i); at >= 0 {
					o := &p.Supply.Offers[x.byCost[at]]
					rank := p.Supply.Templates[o.Template].WeightRank
					want = append(want, opening{int32(i), at, rank, o.Cost + p.Supply.FixedCost(o.Template).USD()})
					heavier += int(rank)
				}
			}
			slices.SortFunc(want, func(a, b opening) int {
				return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.cost, b.cost), cmp.Compare(a.partition, b.partition))
			})
			for range 2 { // the second time it is remembered
				if got := found.openings(int32(c)); !slices.Equal(got, want) {
					t.Fatalf("seed %d, class %d: openings %v, want %v", seed, c, got, want)
				}
			}
			asked += len(want)
		}
	}
	if asked < 1000 || heavier == 0 {
		t.Fatalf("%d openings, %d of lighter pools: the test asks too little", asked, heavier)
	}
}
