package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// greedy packs what is left, best value for money first. A bin type is filled
// anew only when its last filling does not apply any more (with fewer pods
// left, none gets better), and not before what its room can promise makes it
// the best; a new filling is taken if it comes near enough to the best promise.
//
// The active bin types come first; the others get what those cannot serve.
func (k *packer) greedy(near float64) []packing {
	out := k.greedily(near)
	if k.active == nil || !slices.ContainsFunc(k.left, func(n int32) bool { return n > 0 }) {
		return out
	}
	active := k.active
	k.active = nil
	out = append(out, k.greedily(near)...)
	k.active = active
	return out
}

// greedily is greedy over the active bin types.
func (k *packer) greedily(near float64) []packing {
	k.waiting = vec.NewBits(len(k.items))
	for i, n := range k.left {
		if n > 0 {
			k.waiting.Set(int32(i))
		}
	}
	defer func() { k.waiting = nil }()
	q := newQueue(k)
	k.stats.Passes++
	var out []packing
	for len(q.heap) > 0 && q.rate[q.heap[0]] > 0 {
		s := q.heap[0]
		f := q.found[s]
		if f == nil || k.covers(f) == 0 {
			if f = q.price(s, near); f == nil {
				continue
			}
		}
		times := k.covers(f)
		for j, i := range f.items {
			if k.left[i] -= times * f.counts[j]; k.left[i] == 0 {
				k.waiting.Unset(i)
			}
		}
		out = append(out, packing{f, times})
	}
	return out
}

// queue holds, for every bin type, its last filling, if any, and a bound on the
// worth of the next for its cost.
type queue struct {
	*packer
	found []*pattern
	rate  []float64
	// heap orders the bin types by rate, the best first.
	heap []int32
}

func newQueue(k *packer) *queue {
	n := len(k.binTypes)
	q := &queue{packer: k, found: make([]*pattern, n), rate: make([]float64, n), heap: make([]int32, 0, n)}
	for s := range k.binTypes {
		if k.active != nil && !k.active.Has(int32(s)) {
			continue
		}
		t := &k.binTypes[s]
		for _, i := range k.served(t) {
			q.rate[s] += float64(k.duals[i] * float64(k.left[i]))
		}
		for _, i := range t.exclusiveItems {
			q.rate[s] += float64(k.duals[i] * float64(k.left[i]))
		}
		q.rate[s] = min(2, q.rate[s]/t.cost)
		q.heap = append(q.heap, int32(s))
	}
	for i := len(q.heap)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
	return q
}

// before says whether bin type a comes before b; ties go to the cheaper one.
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

// price looks again at the bin type in front. It returns the new filling if that
// may be taken at once.
func (q *queue) price(s int32, near float64) *pattern {
	q.found[s] = nil
	if most := q.rateUpperBound(s); most < 0.999*q.rate[s] {
		q.rate[s] = most
		q.sink(0)
		return nil
	}
	f := q.fill(s, 0)
	if f == nil {
		q.rate[s] = 0
		q.sink(0)
		return nil
	}
	q.found[s] = f
	q.rate[s] = f.value / q.binTypes[s].cost
	q.sink(0)
	if q.rate[s] < near*q.rate[q.heap[0]] {
		return nil
	}
	return f
}

// rateUpperBound bounds the rate of any filling of a bin type from what waits and what
// its room was worth last.
func (k *packer) rateUpperBound(s int32) float64 {
	t := &k.binTypes[s]
	return (k.atPrices(t, k.served(t), &t.resourcePrices) + k.exclusiveGain(t, &t.resourcePrices)) / t.cost
}
