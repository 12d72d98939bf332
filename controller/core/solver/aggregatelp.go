package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// aggregateLP prices the items as if pods and nodes could be poured: what all items
// ask for together, bought as a mixture of bin types at the least cost. Its prices
// of resources, max prices.demand where no bin type's room is worth more than the
// bin type costs, are near those of the program when nodes hold many pods, and a
// much better start than the price that each item pays alone.
func (k *packer) aggregateLP(duals []float64) {
	var demand vec.Reals
	for i := range k.items {
		for r := range k.n {
			demand[r] += float64(k.reqs[i][r] * float64(k.items[i].n))
		}
	}
	price := k.resourcePrices(&demand)
	for i := range k.items {
		w := 0.0
		for r := range k.n {
			w += float64(price[r] * k.reqs[i][r])
		}
		// Items of equal density would make every relaxed filling a tie.
		duals[i] = w * (1 + float64(1e-4*float64(len(k.items)-i)/float64(len(k.items))))
	}
}

// maxAggregatePods is up to how many pods a block is priced without a program. Where
// few nodes hold them all, most of a program's solution is lost in rounding,
// and what counts is that fills are many and duals roughly right.
const maxAggregatePods = 2000

// useAggregateLP says whether pouring will do for the block. Pods that keep
// others off their nodes need more of them, which pouring does not see.
func (b *block) useAggregateLP() bool {
	return b.pods() <= maxAggregatePods && !slices.ContainsFunc(b.items, func(r item) bool { return r.conflict >= 0 })
}

// aggregateDuals prices the items of a block without a program. An item of what is plentiful
// still is worth something, or nobody would serve it.
func (b *block) aggregateDuals() {
	b.initialDuals()
	least := slices.Clone(b.duals)
	b.aggregateLP(b.duals)
	for i := range b.duals {
		b.duals[i] = max(b.duals[i], 0.01*least[i])
	}
	b.normalizeDuals()
}

// normalizeDuals scales the duals so that the best bin type is just worth its cost.
func (b *block) normalizeDuals() {
	best := 0.0
	for s := range b.binTypes {
		t := &b.binTypes[s]
		best = max(best, b.ceiling(t)/t.cost)
	}
	for i := range b.duals {
		b.duals[i] /= best
	}
	for s := range b.binTypes {
		for r := range b.binTypes[s].resourcePrices {
			b.binTypes[s].resourcePrices[r] /= best
		}
	}
}
