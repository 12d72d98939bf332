package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/vec"
)

// packingRound is one packing of the pods that are left: its items, and what came of
// it.
type packingRound struct {
	p *problem
	// n is how many resources are in use.
	n     int
	items []item
	sets  []vec.Bits
	// merged says that items stand for pods of different requests, meanRequests that
	// they then ask for the mean of them and not for the most.
	merged, meanRequests bool
	// cost is the effective cost of each offer when the round began, in USD/hour.
	cost []float64
	// result is nil before packing.
	result *packing.Result
}

// instance writes the round as a problem of packing, in which an offer is a bin type.
// byCost has each template's offers in order of cost; podsPerNode is how many pods a
// node is given, 0 for as many as fit; scarcity, by offer, counts before cost, nil for
// none.
func (k *packingRound) instance(byCost [][]int32, podsPerNode int32, scarcity []float64) *packing.Instance {
	in := &packing.Instance{
		Dims: k.n, Items: k.packedItems(), Capacities: k.capacities(podsPerNode),
		BinTypes: k.offerBins(scarcity), ByCost: byCost,
		Sets: k.sets, Conflicts: k.p.packedConflicts(), Scale: k.p.scale,
	}
	if scarcity == nil {
		return in
	}
	in.ByCost = make([][]int32, len(byCost))
	for l, list := range byCost {
		in.ByCost[l] = slices.SortedStableFunc(slices.Values(list), func(a, b int32) int {
			if o := cmp.Compare(in.BinTypes[a].Cost, in.BinTypes[b].Cost); o != 0 {
				return o
			}
			return cmp.Compare(a, b)
		})
	}
	return in
}

func (k *packingRound) packedItems() []packing.Item {
	out := make([]packing.Item, len(k.items))
	for i := range k.items {
		it := &k.items[i]
		out[i] = packing.Item{Size: it.request, Count: it.n, Set: it.set, Group: it.conflict}
	}
	return out
}

// capacities are what nodes of each shape hold.
func (k *packingRound) capacities(podsPerNode int32) []vec.Vector {
	out := make([]vec.Vector, len(k.p.supply.Shapes))
	for i := range k.p.supply.Shapes {
		out[i] = k.p.supply.Shapes[i].Capacity
		if podsPerNode > 0 {
			out[i][2] = min(out[i][2], int64(podsPerNode))
		}
	}
	return out
}

// Packing's costs have to be more than 0, and where effective costs tie, as those of
// reservations do at 0, the offer of less money comes first. Both terms are too small
// to weigh against a difference in effective cost: prices have micro-dollars.
const (
	moneyWeight = 1e-6
	leastCost   = 1e-7
)

// offerBins are the offers as bin types. Their costs include what a node costs besides
// its instance.
func (k *packingRound) offerBins(scarcity []float64) []packing.BinType {
	out := make([]packing.BinType, len(k.p.supply.Offers))
	for o := range out {
		f := &k.p.supply.Offers[o]
		cost := k.cost[o] + k.p.supply.FixedCost(f.Template).USD() + float64(moneyWeight*f.Price.USD()) + leastCost
		if scarcity != nil {
			cost = scarcity[o] + float64(moneyWeight*cost)
		}
		out[o] = packing.BinType{Capacity: f.Shape, Family: f.Template, Cost: cost}
	}
	return out
}

// packedConflicts are the rules of single nodes as packing knows them.
func (p *problem) packedConflicts() packing.Conflicts {
	perNode, excludes := p.conflicts.Tables()
	return packing.Conflicts{PerBin: perNode, Excludes: excludes}
}
