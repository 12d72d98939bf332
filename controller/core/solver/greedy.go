package solver

import (
	"slices"
)

// greedy packs what is left, best value for money first. A site is filled
// anew only when its last filling does not apply any more (with fewer pods
// left, none gets better), and not before what its room can promise makes it
// the best; a new filling is taken if it comes near enough to the best promise.
//
// The active sites come first; the others get what those cannot serve.
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

// greedily is greedy over the active sites.
func (k *packer) greedily(near float64) []packing {
	k.waiting = newBitset(len(k.rows))
	for i, n := range k.left {
		if n > 0 {
			k.waiting.set(int32(i))
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
		for j, i := range f.idx {
			if k.left[i] -= times * f.cnt[j]; k.left[i] == 0 {
				k.waiting.unset(i)
			}
		}
		out = append(out, packing{f, times})
	}
	return out
}

// queue holds, for every site, its last filling, if any, and a bound on the
// worth of the next for its cost.
type queue struct {
	*packer
	found []*pattern
	rate  []float64
	// heap orders the sites by rate, the best first.
	heap []int32
}

func newQueue(k *packer) *queue {
	n := len(k.sites)
	q := &queue{packer: k, found: make([]*pattern, n), rate: make([]float64, n), heap: make([]int32, 0, n)}
	for s := range k.sites {
		if k.active != nil && !k.active.has(int32(s)) {
			continue
		}
		t := &k.sites[s]
		for _, i := range k.served(t) {
			q.rate[s] += float64(k.worth[i] * float64(k.left[i]))
		}
		for _, i := range t.ported {
			q.rate[s] += float64(k.worth[i] * float64(k.left[i]))
		}
		q.rate[s] = min(2, q.rate[s]/t.cost)
		q.heap = append(q.heap, int32(s))
	}
	for i := len(q.heap)/2 - 1; i >= 0; i-- {
		q.sink(i)
	}
	return q
}

// before says whether site a comes before b; ties go to the cheaper one.
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

// price looks again at the site in front. It returns the new filling if that
// may be taken at once.
func (q *queue) price(s int32, near float64) *pattern {
	q.found[s] = nil
	if most := q.promise(s); most < 0.999*q.rate[s] {
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
	q.rate[s] = f.value / q.sites[s].cost
	q.sink(0)
	if q.rate[s] < near*q.rate[q.heap[0]] {
		return nil
	}
	return f
}

// promise bounds the rate of any filling of a site from what waits and what
// its room was worth last.
func (k *packer) promise(s int32) float64 {
	t := &k.sites[s]
	return (k.atPrices(t, k.served(t), &t.hint) + k.portedGain(t, &t.hint)) / t.cost
}
