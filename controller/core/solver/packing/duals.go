package packing

import (
	"math"
	"slices"

	"spokeshave.dev/controller/core/solver/lp"
	"spokeshave.dev/controller/core/solver/vec"
)

// initialDuals are duals without a program: as if each item had bins of its own.
func (m *model) initialDuals(dual []float64) {
	for i := range dual {
		dual[i] = math.Inf(1)
	}
	for k := range m.bins {
		b := &m.bins[k]
		for _, i := range b.plain {
			if b.cost > dual[i]*float64(m.items[i].Count)*(1+1e-9) {
				continue // not even if it held all of them
			}
			size := &m.items[i].Size
			if n := int64(b.cost / dual[i] * (1 - 1e-9)); n > 0 && !m.holds(b, size, n+1) {
				continue // no more of them than of those that share the best so far
			}
			n := vec.MaxCopies(size, &b.capacity, m.most(i), m.n)
			dual[i] = min(dual[i], b.cost/float64(n))
		}
		for _, i := range b.exclusive {
			dual[i] = min(dual[i], b.cost)
		}
	}
}

// holds reports whether a bin has room for n of a size.
func (m *model) holds(b *bin, size *vec.Vector, n int64) bool {
	for r := range m.n {
		if n*size[r] > b.capacity[r] {
			return false
		}
	}
	return true
}

// smaller is how much less, at most, a larger item counts than a smaller one when
// all items count the same: where only one of two finds room, the smaller leaves
// more of it. Any small number does: 0.001 and 0.1 change no plan.
const smaller = 0.01

// countDuals make every item worth nearly the same, so much that no bin is worth
// more than its cost: the bins that hold most items come first.
func (m *model) countDuals(dual []float64) {
	least := math.Inf(1)
	for b := range m.bins {
		least = min(least, m.bins[b].cost)
	}
	var most vec.Reals
	for i := range m.items {
		for r := range m.n {
			most[r] = max(most[r], m.sizes[i][r])
		}
	}
	n := count(m.items)
	for i := range dual {
		size := 0.0
		for r := range m.n {
			if most[r] > 0 {
				size += m.sizes[i][r] / most[r]
			}
		}
		dual[i] = least / float64(max(1, n)) * (1 - float64(smaller*size/float64(m.n)))
	}
}

// maxAggregate is up to how many items a block is priced without a restricted
// master. Where few bins hold them all, most of a master's solution is lost in
// rounding, and what counts is that fillings are many and duals roughly right:
// on 1,000 items of many kinds 94 % of it was lost, and the aggregate program
// packed as well in a quarter of the time. From some 2,000 items on the master wins
// by up to 2 % (docs/measurements/solver.md).
const maxAggregate = 2000

// aggregable reports whether the aggregate program will do for pricing. It does
// not see that items which keep others out need more bins.
func (m *model) aggregable() bool {
	return count(m.items) <= maxAggregate && !slices.ContainsFunc(m.items, func(it Item) bool { return it.Group >= 0 })
}

// uneven is by which part items of equal density are priced differently: otherwise
// every relaxed filling is a tie: 0 costs 0.17 % and a tenth more time.
const uneven = 1e-4

// aggregateDuals price items as if they and the bins were fluids: what all items
// take together, bought as a mixture of bins at the least cost, gives a price for
// each resource. They are near the master's duals when bins hold many items.
func (m *model) aggregateDuals(dual []float64) {
	var demand vec.Reals
	for i := range m.items {
		for r := range m.n {
			demand[r] += float64(m.sizes[i][r] * float64(m.items[i].Count))
		}
	}
	rows := make([]vec.Reals, len(m.bins))
	for k := range m.bins {
		for r := range m.n {
			rows[k][r] = m.bins[k].size[r] / m.bins[k].cost
		}
	}
	price := lp.UnitPrices(rows, &demand, m.n)
	for i := range m.items {
		w := 0.0
		for r := range m.n {
			w += float64(price[r] * m.sizes[i][r])
		}
		dual[i] = w * (1 + float64(uneven*float64(len(m.items)-i)/float64(len(m.items))))
	}
}

// leastDual is the part of its initial dual that an item is worth at least: one
// that takes only what is plentiful would be worth nothing, and be left to the end. A
// guard: 0 changes none of the 40 plans, 0.1 costs 0.001 %.
const leastDual = 0.01

// priceByAggregate prices the items by the aggregate program.
func (p *pricer) priceByAggregate() {
	p.m.initialDuals(p.dual)
	least := slices.Clone(p.dual)
	p.m.aggregateDuals(p.dual)
	for i := range p.dual {
		p.dual[i] = max(p.dual[i], leastDual*least[i])
	}
	p.normalizeDuals()
}

// normalizeDuals scales the duals so that the best bin is just worth its cost.
func (p *pricer) normalizeDuals() {
	best := 0.0
	for b := range p.m.bins {
		best = max(best, p.ceiling(int32(b))/p.m.bins[b].cost)
	}
	for i := range p.dual {
		p.dual[i] /= best
	}
	for b := range p.memory {
		for r := range p.memory[b].price {
			p.memory[b].price[r] /= best
		}
	}
}
