package commit

import (
	"cmp"
	"math"
	"slices"

	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// Round is one packing of the pods that are left: its items and its result.
type Round struct {
	Problem *problem.Problem
	// Dims is the number of resources in use.
	Dims  int
	Items problem.Items
	// merged is what items that join different requests request.
	merged problem.MergedRequest
	// Cost is the effective cost of each offer when the round began, in USD/hour.
	Cost []float64
	// result is nil before packing.
	result *packing.Result
}

// Scarcity is what nodes cost besides, for using limits and headroom. The zero value is
// nothing.
type Scarcity struct {
	// Shares are, by offer, the sums of the shares of what is left that a node uses.
	Shares []float64
	// Price is that of a whole share, in USD/hour. Where it is infinite, shares take
	// precedence over cost.
	Price float64
}

// Instance translates the round into a packing problem, in which an offer is a bin
// type. byCost is by template its offers in order of cost. podsPerNode is the most
// pods of a node, 0 for no bound.
func (k *Round) Instance(byCost [][]int32, podsPerNode int32, scarcity Scarcity) *packing.Instance {
	in := &packing.Instance{
		Dims: k.Dims, Items: k.PackedItems(), Capacities: k.capacities(podsPerNode),
		BinTypes: k.offerBins(scarcity), ByCost: byCost,
		Sets: k.Items.Sets, Conflicts: k.Problem.PackedConflicts(), Scale: k.Problem.Scale,
	}
	if scarcity.Shares == nil {
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

// PackedItems returns the items in packing's form.
func (k *Round) PackedItems() []packing.Item {
	out := make([]packing.Item, len(k.Items.List))
	for i := range k.Items.List {
		it := &k.Items.List[i]
		out[i] = packing.Item{Size: it.Request, Count: it.N, Set: it.Set, Group: it.Conflict}
	}
	return out
}

// capacities returns what nodes of each shape can hold.
func (k *Round) capacities(podsPerNode int32) []vec.Vector {
	out := make([]vec.Vector, len(k.Problem.Supply.Shapes))
	for i := range k.Problem.Supply.Shapes {
		out[i] = k.Problem.Supply.Shapes[i].Capacity
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
// besides its instance, and for what it uses of bounds.
func (k *Round) offerBins(scarcity Scarcity) []packing.BinType {
	out := make([]packing.BinType, len(k.Problem.Supply.Offers))
	for o := range out {
		f := &k.Problem.Supply.Offers[o]
		cost := k.Cost[o] + k.Problem.Supply.FixedCost(f.Template).USD() + float64(moneyWeight*f.Price.USD()) + leastCost
		switch {
		case scarcity.Shares == nil:
		case math.IsInf(scarcity.Price, 1):
			cost = scarcity.Shares[o] + float64(moneyWeight*cost)
		default:
			cost += float64(scarcity.Price * scarcity.Shares[o])
		}
		out[o] = packing.BinType{Capacity: f.Shape, Family: f.Template, Cost: cost}
	}
	return out
}
