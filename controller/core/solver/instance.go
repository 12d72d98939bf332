package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// packingRound is one packing of the pods that are left: its items and its result.
type packingRound struct {
	p *problem.Problem
	// n is the number of resources in use.
	n     int
	items problem.Items
	// meanRequests makes a merged item request the mean of its pods.
	meanRequests bool
	// cost is the effective cost of each offer when the round began, in USD/hour.
	cost []float64
	// result is nil before packing.
	result *packing.Result
}

// instance translates the round into a packing problem, in which an offer is a bin
// type. byCost is by template its offers in order of cost. podsPerNode is the most
// pods of a node, 0 for no bound. scarcity, by offer, takes precedence over cost;
// nil for none.
func (k *packingRound) instance(byCost [][]int32, podsPerNode int32, scarcity []float64) *packing.Instance {
	in := &packing.Instance{
		Dims: k.n, Items: k.packedItems(), Capacities: k.capacities(podsPerNode),
		BinTypes: k.offerBins(scarcity), ByCost: byCost,
		Sets: k.items.Sets, Conflicts: k.p.PackedConflicts(), Scale: k.p.Scale,
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
	out := make([]packing.Item, len(k.items.List))
	for i := range k.items.List {
		it := &k.items.List[i]
		out[i] = packing.Item{Size: it.Request, Count: it.N, Set: it.Set, Group: it.Conflict}
	}
	return out
}

// capacities returns what nodes of each shape can hold.
func (k *packingRound) capacities(podsPerNode int32) []vec.Vector {
	out := make([]vec.Vector, len(k.p.Supply.Shapes))
	for i := range k.p.Supply.Shapes {
		out[i] = k.p.Supply.Shapes[i].Capacity
		if podsPerNode > 0 {
			out[i][2] = min(out[i][2], int64(podsPerNode))
		}
	}
	return out
}

// Packing requires positive costs. Where effective costs are equal, as those of
// reservations are at 0, the offer with the lower price comes first. Both terms are
// too small to outweigh a difference in effective cost, as prices are multiples of
// one micro-dollar.
const (
	moneyWeight = 1e-6
	leastCost   = 1e-7
)

// offerBins returns the offers as bin types. Their costs include what a node costs
// besides its instance.
func (k *packingRound) offerBins(scarcity []float64) []packing.BinType {
	out := make([]packing.BinType, len(k.p.Supply.Offers))
	for o := range out {
		f := &k.p.Supply.Offers[o]
		cost := k.cost[o] + k.p.Supply.FixedCost(f.Template).USD() + float64(moneyWeight*f.Price.USD()) + leastCost
		if scarcity != nil {
			cost = scarcity[o] + float64(moneyWeight*cost)
		}
		out[o] = packing.BinType{Capacity: f.Shape, Family: f.Template, Cost: cost}
	}
	return out
}
