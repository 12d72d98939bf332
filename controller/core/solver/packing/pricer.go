package packing

import (
	"spokeshave.dev/controller/core/solver/lp"
	"spokeshave.dev/controller/core/solver/vec"
)

// pricer answers, at the present duals and for the items that are left, which
// filling of a bin is worth most, and what bounds any filling's worth.
type pricer struct {
	m    *model
	left *remaining
	// dual is what one of each item is worth, in cost.
	dual []float64
	// memory is what is known of each bin from its last relaxation.
	memory []memory
	// relaxation is of the pricing problem: fractions of items.
	relaxation lp.Bounded
	filler     filler
	stats      *Stats
}

// memory is a bin's last relaxation: its prices bound the next, and its basis is
// where the next starts.
type memory struct {
	price vec.Reals
	basis lp.Basis
}

func newPricer(m *model, stats *Stats) *pricer {
	p := &pricer{m: m, left: newRemaining(m), memory: make([]memory, len(m.bins)), stats: stats}
	p.filler = filler{m: m, left: p.left, counts: make([]int32, len(m.items))}
	p.setDual(make([]float64, len(m.items)))
	return p
}

// setDual prices by other duals. The pricer keeps the slice.
func (p *pricer) setDual(dual []float64) {
	p.dual, p.filler.dual = dual, dual
	p.relaxation.Columns = lp.Columns{Objective: dual, Use: p.m.sizes, Upper: p.left.upper}
}

// forget drops what is known of the bins.
func (p *pricer) forget() { clear(p.memory) }

// worth is what the items of a pattern are worth.
func (p *pricer) worth(f *Pattern) float64 {
	v := 0.0
	for q, i := range f.Items {
		v += float64(p.dual[i] * float64(f.Counts[q]))
	}
	return v
}

// rate is what a batch's items are worth for its cost.
func (p *pricer) rate(f Batch) float64 { return p.worth(f.Pattern) / p.m.bins[f.Bin].cost }

// relax fills a bin with fractions of items, none of them exclusive.
func (p *pricer) relax(b *bin, mem *memory, items []int32) *lp.Solution {
	s := p.relaxation.Solve(items, &b.size, b.dims, &mem.basis)
	mem.price = s.Price
	return s
}

// exclusiveGain bounds what exclusive items can add to a relaxed filling: of those
// that exclude each other, the best one.
func (p *pricer) exclusiveGain(exclusive []int32, price *vec.Reals) float64 {
	sum, best, clique := 0.0, 0.0, int32(-1)
	for _, i := range exclusive {
		if p.left.left[i] == 0 {
			continue
		}
		if p.m.clique[i] != clique {
			sum, best, clique = sum+best, 0, p.m.clique[i]
		}
		best = max(best, p.relaxation.Gain(i, p.m.n, price))
	}
	return sum + best
}

// atPrices bounds the worth of any filling of a bin by prices of its capacity.
func (p *pricer) atPrices(b *bin, items []int32, price *vec.Reals) float64 {
	return p.relaxation.Bound(items, &b.size, b.dims, price) + p.exclusiveGain(b.exclusive, price)
}

// rateUpperBound bounds the worth, for its cost, of any filling of a bin from what
// is left and what its capacity was worth last.
func (p *pricer) rateUpperBound(at int32) float64 {
	b := &p.m.bins[at]
	return p.atPrices(b, p.left.served(b, p.dual), &p.memory[at].price) / b.cost
}

// ceiling bounds the worth of any filling of a bin when all items wait: without
// exclusive items, and with each of the first clique of them. It is sharper than
// rateUpperBound, and takes a relaxation for each.
func (p *pricer) ceiling(at int32) float64 {
	b, mem := &p.m.bins[at], &p.memory[at]
	if len(b.exclusive) == 0 {
		return p.relax(b, mem, b.plain).Value
	}
	rest := b.exclusive
	for len(rest) > 0 && p.m.clique[rest[0]] == p.m.clique[b.exclusive[0]] {
		rest = rest[1:]
	}
	s := p.relax(b, mem, b.plain)
	best := s.Value + p.exclusiveGain(rest, &s.Price)
	for _, i := range b.exclusive[:len(b.exclusive)-len(rest)] {
		with, start := *b, *mem
		with.capacity.Add(&p.m.items[i].Size, -1)
		with.size = with.capacity.Scaled(&p.m.scale, p.m.n)
		s := p.relax(&with, &start, b.plain)
		best = max(best, p.dual[i]+s.Value+p.exclusiveGain(rest, &s.Price))
	}
	return best
}

// patterns are the best fillings found for all bins, where they are worth more
// than atLeast times the cost.
func (p *pricer) patterns(atLeast float64) []*Pattern {
	var out []*Pattern
	for b := range p.m.bins {
		if f, _ := p.fill(int32(b), atLeast); f != nil {
			out = append(out, f)
		}
	}
	return out
}

// wellFilled is the worth for its cost from which on a filling is worth improving by
// exchanges; others are hardly ever chosen. 0 takes 1 % more time for 0.02 %.
const wellFilled = 0.8

// fill looks for the filling of a bin that is worth most, and says its worth: the
// fractional optimum rounded down, then greedily what goes best with the room left,
// then a few exchanges. It returns nil for a filling worth no more than atLeast
// times the cost.
func (p *pricer) fill(at int32, atLeast float64) (*Pattern, float64) {
	b, mem, c := &p.m.bins[at], &p.memory[at], &p.filler
	live := p.left.served(b, p.dual)
	c.begin(b, live)
	if atLeast > 0 && p.atPrices(b, live, &mem.price) <= atLeast*b.cost {
		return nil, 0
	}
	if len(b.exclusive) == 0 && !p.m.mixed && c.putAll() {
		return c.finish(at, atLeast*b.cost)
	}
	s := p.relax(b, mem, live)
	if s.Value+p.exclusiveGain(b.exclusive, &s.Price) <= atLeast*b.cost {
		return nil, 0
	}
	c.putExclusive(&p.relaxation.Columns, &s.Price)
	for _, i := range s.Full {
		c.putUpTo(i, p.left.most(i))
	}
	for q := range p.m.n {
		if i := s.Column[q]; i >= 0 {
			c.putUpTo(i, min(int32(s.Amount[q]+1e-6), p.left.most(i)))
		}
	}
	c.putGreedily()
	if c.value > wellFilled*b.cost {
		c.exchange()
	}
	return c.finish(at, atLeast*b.cost)
}
