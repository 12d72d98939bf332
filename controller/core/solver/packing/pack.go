package packing

import (
	"cmp"
	"math"
	"slices"

	"spokeshave.dev/controller/core/solver/parallel"
	"spokeshave.dev/controller/core/solver/vec"
)

// Options say how an instance is packed.
type Options struct {
	// Effort bounds the moves of improvement: pivots and passes over the bins, never
	// time. 0 packs greedily by initial duals.
	Effort int
	// Count packs as many items as possible first, whatever that costs, for a caller
	// who may not use all bins.
	Count bool
}

// search is one packing in the making.
type search struct {
	in      *Instance
	m       *model
	p       *pricer
	options Options
	// active are the bins that greedy looks at first; nil for all.
	active vec.Bits
	stats  Stats
}

// Pack packs the items of an instance. The same instance and options give the same
// packing, whatever the number of processors.
func Pack(in *Instance, options Options) *Result {
	whole := in
	in, m, from := prepare(in)
	s := search{in: in, m: m, options: options}
	s.p = newPricer(m, &s.stats)
	out := &Result{bins: m.bins, n: m.n}
	if len(m.items) > 0 {
		out.Batches = s.pack()
	}
	out.rename(from, len(whole.Items))
	out.Stats = s.stats
	out.Stats.Bins = len(m.bins)
	out.Left = whole.left(out.Batches)
	return out
}

// prepare sorts the items, leaves out those that no bin holds, and chooses the bins.
// from says where each item was; nil when all are where they were.
func prepare(in *Instance) (sorted *Instance, m *model, from []int32) {
	sorted, from = in.sorted()
	m = newModel(sorted, sorted.Items, shapes(sorted.Items))
	m.bins = reduce(sorted, m)
	held := m.served()
	if held == nil {
		return sorted, m, from
	}
	sorted = sorted.only(held)
	m = newModel(sorted, sorted.Items, shapes(sorted.Items))
	m.bins = reduce(sorted, m)
	for i, at := range held {
		if from != nil {
			held[i] = from[at]
		}
	}
	return sorted, m, held
}

// left is how many of each item the batches leave out, nil when there are none.
func (in *Instance) left(list []Batch) []int32 {
	out, n := make([]int32, len(in.Items)), in.items()
	for i := range in.Items {
		out[i] = in.Items[i].Count
	}
	for _, f := range list {
		for q, i := range f.Items {
			out[i] -= f.Times * f.Counts[q]
			n -= f.Times * f.Counts[q]
		}
	}
	if n == 0 {
		return nil
	}
	return out
}

// pack packs the items of a model.
func (s *search) pack() []Batch {
	switch {
	case s.options.Count:
		s.m.countDuals(s.p.dual)
		return s.p.greedy(nil, 1)
	case s.options.Effort <= 0:
		s.m.initialDuals(s.p.dual)
		return s.p.greedy(nil, 1)
	}
	list := blocks(s.in, s.m)
	computeDuals(list, s.options.Effort)
	s.p.importDuals(list)
	parts := make([]fractional, len(list))
	for i, b := range list {
		parts[i] = newFractional(b)
		s.stats.Passes += b.stats.Passes
		s.stats.Pivots += b.stats.Pivots
	}
	s.activate(parts)
	out := s.integral(parts)
	if len(parts) > 1 || s.m.total(out) > parts[0].value()*(1+goodEnough) {
		out = s.improve(out, len(parts))
	}
	return out
}

// goodEnough is how much above its master's value a packing needs no more
// improvement: 0 takes 3 % more time for nothing, 0.02 costs 0.05 %.
const goodEnough = 0.004

// computeDuals prices the items of all blocks.
func computeDuals(blocks []*block, effort int) {
	share := shares(blocks)
	donors := dualDonors(blocks, share)
	starts := warmStarts(blocks, share, donors)
	parallel.Each(len(blocks), func(i int) {
		b := blocks[i]
		switch {
		case donors[i] >= 0 || starts[i] >= 0:
		case b.p.m.aggregable():
			b.p.priceByAggregate()
		default:
			b.solve(b.moves(effort, share[i]), tolerance(share[i]))
		}
	})
	parallel.Each(len(blocks), func(i int) {
		b := blocks[i]
		if starts[i] >= 0 {
			b.warmStart(blocks[starts[i]])
			b.solve(b.moves(effort, share[i]), tolerance(share[i]))
		}
	})
	parallel.Each(len(blocks), func(i int) {
		b := blocks[i]
		if donors[i] >= 0 {
			b.inherit(blocks[donors[i]])
		}
	})
}

// shares estimates how much each block matters to the cost of the whole.
func shares(blocks []*block) []float64 {
	out := make([]float64, len(blocks))
	total := 0.0
	for i, b := range blocks {
		b.p.m.initialDuals(b.p.dual)
		for j := range b.p.m.items {
			out[i] += float64(b.p.dual[j] * float64(b.p.m.items[j].Count))
		}
		total += out[i]
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

// tolerance is how exactly a block's program is solved: 0.2 % for all of the cost;
// blocks of a small share are worth less care. (2 % saves hardly any passes, and is
// up to 1.5 % dearer; docs/measurements/solver.md.)
func tolerance(share float64) float64 { return min(0.05, 0.002/math.Sqrt(share)) }

// fewMoves is what a block of next to no share in the cost gets. 10 and 160 change next to
// no plan.
const fewMoves = 40

// moves are a block's part of the effort: most goes where the money is.
func (b *block) moves(effort int, share float64) int {
	if b.piece {
		share *= pieceEffort
	}
	return min(effort, fewMoves+int(float64(effort)*share))
}

// importDuals takes over what the blocks found their items, and the capacity of
// their bins, to be worth.
func (p *pricer) importDuals(blocks []*block) {
	prices := map[int32]*vec.Reals{}
	for _, b := range blocks {
		for k := range b.p.m.bins {
			prices[b.p.m.bins[k].kind] = &b.p.memory[k].price
		}
		for j, members := range b.members {
			for _, i := range members {
				p.dual[i] = b.p.dual[j]
			}
		}
	}
	for k := range p.m.bins {
		if price := prices[p.m.bins[k].kind]; price != nil {
			p.memory[k].price = *price
		}
	}
}

// promising are the bins of a block that could be worth most for their cost, as far
// as the last prices of their capacity tell.
func (b *block) promising() []int32 {
	b.p.left.refill()
	rate, order := make([]float64, len(b.p.m.bins)), make([]int32, len(b.p.m.bins))
	for k := range b.p.m.bins {
		rate[k], order[k] = b.p.rateUpperBound(int32(k)), int32(k)
	}
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(rate[y], rate[x]) })
	return order[:min(moreActive, len(order))]
}
