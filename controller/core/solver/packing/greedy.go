package packing

import "spokeshave.dev/controller/core/solver/vec"

// greedy packs what is left, best value for money first. A bin is filled anew only
// when its last filling does not apply any more (with fewer items left, none gets
// better), and not before what its capacity can promise makes it the best; a new
// filling is taken if it comes as near as near to the best promise.
//
// The active bins come first, nil for all; the others get what those cannot serve.
func (p *pricer) greedy(active vec.Bits, near float64) []Batch {
	out := p.greedily(active, near)
	if active == nil || p.left.none() {
		return out
	}
	return append(out, p.greedily(nil, near)...)
}

// greedily is greedy over some bins.
func (p *pricer) greedily(active vec.Bits, near float64) []Batch {
	p.left.watch()
	defer p.left.unwatch()
	q := newQueue(p, active)
	p.stats.Passes++
	var out []Batch
	for len(q.heap) > 0 && q.rate[q.heap[0]] > 0 {
		f := q.found[q.heap[0]]
		if f == nil || p.left.covers(f) == 0 {
			if f = q.price(near); f == nil {
				continue
			}
		}
		times := p.left.covers(f)
		p.left.take(f, times)
		out = append(out, Batch{f, times})
	}
	return out
}

// queue holds, for every bin, its last filling, if any, and a bound on the worth of
// the next for its cost.
type queue struct {
	p     *pricer
	found []*Pattern
	rate  []float64
	// heap orders the bins by rate, the best first.
	heap []int32
}

// mostRate is a bound on any bin's rate: duals are such that none is worth much more
// than it costs. 1.5 cost 0.2 % and 4 0.1 %, up to 5 % for 100 web pods.
const mostRate = 2

func newQueue(p *pricer, active vec.Bits) *queue {
	n := len(p.m.bins)
	q := &queue{p: p, found: make([]*Pattern, n), rate: make([]float64, n), heap: make([]int32, 0, n)}
	for k := range p.m.bins {
		if active != nil && !active.Has(int32(k)) {
			continue
		}
		b := &p.m.bins[k]
		for _, i := range p.left.served(b, p.dual) {
			q.rate[k] += float64(p.dual[i] * float64(p.left.left[i]))
		}
		for _, i := range b.exclusive {
			q.rate[k] += float64(p.dual[i] * float64(p.left.left[i]))
		}
		q.rate[k] = min(mostRate, q.rate[k]/b.cost)
		q.heap = append(q.heap, int32(k))
	}
	for i := len(q.heap)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
	return q
}

// before reports whether bin a comes before b; ties go to the cheaper one.
func (q *queue) before(a, b int32) bool {
	return q.rate[a] > q.rate[b] || q.rate[a] == q.rate[b] && a < b
}

// sink restores the heap below position i.
func (q *queue) sink(i int) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(q.heap); c++ {
			if q.before(q.heap[c], q.heap[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}

// stillFirst is how near its last rate a bin's new bound has to be for the bin to be
// filled at once, and not to go back in the queue: 0.99 cost 0.02 %, 1 saves nothing.
const stillFirst = 0.999

// price looks again at the bin in front. It returns the new filling if that may be
// taken at once.
func (q *queue) price(near float64) *Pattern {
	b := q.heap[0]
	q.found[b] = nil
	if most := q.p.rateUpperBound(b); most < stillFirst*q.rate[b] {
		q.rate[b] = most
		q.sink(0)
		return nil
	}
	f, value := q.p.fill(b, 0)
	if f == nil {
		q.rate[b] = 0
		q.sink(0)
		return nil
	}
	q.found[b] = f
	q.rate[b] = value / q.p.m.bins[b].cost
	q.sink(0)
	if q.rate[b] < near*q.rate[q.heap[0]] {
		return nil
	}
	return f
}
