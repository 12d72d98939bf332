package packing

import (
	"math"
	"slices"

	"spokeshave.dev/controller/core/solver/parallel"
)

// boundMoves and boundTolerance say how exactly the programs of a bound are solved.
// A bound is asked for once, by a person: it may take longer than the packing.
// A tenth and ten times the moves change no bound; ten times the tolerance lowers it by
// 0.4 % in the mean, a tenth raises it by 0.02 %.
const (
	boundMoves     = 100_000
	boundTolerance = 0.001
)

// BoundingDuals are duals of the items, by item, at which no bin could hold more than
// it costs, so that their sum over all items bounds the cost of any packing from below;
// 0 for an item that no bin holds. A bin is offered so many of each item, at least as
// many as there are.
func BoundingDuals(in *Instance, offered []int32) []float64 {
	whole := in
	in, m, from := prepare(in)
	p := newPricer(m, &Stats{})
	list := blocks(in, m)
	parallel.Each(len(list), func(i int) { list[i].solve(boundMoves, boundTolerance) })
	p.importDuals(list)
	for i := range m.items {
		at := int32(i)
		if from != nil {
			at = from[i]
		}
		p.left.set(int32(i), offered[at])
	}
	over := make([]float64, len(m.items))
	for k := range m.bins {
		b := &m.bins[k]
		ratio := p.ceiling(int32(k)) / b.cost
		for i := b.items.Next(0); i >= 0; i = b.items.Next(i + 1) {
			over[i] = max(over[i], ratio)
		}
	}
	duals := slices.Clone(p.dual)
	for i := range duals {
		duals[i] /= max(1, over[i])
		if math.IsInf(duals[i], 0) || math.IsNaN(duals[i]) {
			duals[i] = 0
		}
	}
	if from == nil {
		return duals
	}
	out := make([]float64, len(whole.Items))
	for i, at := range from {
		out[at] = duals[i]
	}
	return out
}

// Cliques numbers sets of items that all exclude each other, by item. The number of
// an item of which a bin takes more than one means nothing.
func Cliques(items []Item, conflicts *Conflicts) []int32 { return cliques(items, conflicts) }
