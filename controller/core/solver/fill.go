package solver

import (
	"math/bits"

	"spokeshave.dev/controller/core/solver/vec"
)

// scratch is room that fill uses again and again.
type scratch struct {
	counts     []int32
	used, live []int32
	simplex    simplex // of relax
	free       vec.Vector
	value      float64
	capacities []vec.Vector // of sitesOf
}

// put changes the filling by n pods of an item.
func (k *packer) put(i, n int32) {
	c := &k.scratch
	req := &k.items[i].request
	for r := range k.n {
		c.free[r] -= int64(n) * req[r]
	}
	if c.counts[i] == 0 {
		c.used = append(c.used, i)
	}
	c.counts[i] += n
	c.value += float64(k.duals[i] * float64(n))
}

// fill looks for the filling of a bin type that is worth most at the present
// duals: the fractional optimum rounded down, then greedily what goes best
// with the room left, then a few exchanges. It returns nil for a filling worth
// no more than atLeast times the cost.
func (k *packer) fill(s int32, atLeast float64) *pattern {
	t, c := &k.binTypes[s], &k.scratch
	c.free, c.value, c.used, c.live = t.capacity, 0, c.used[:0], c.live[:0]
	c.live = k.served(t)
	if atLeast > 0 && k.atPrices(t, c.live, &t.resourcePrices)+k.exclusiveGain(t, &t.resourcePrices) <= atLeast*t.cost {
		return nil
	}
	if len(t.exclusiveItems) == 0 && !k.hasConflicts && k.putAll() {
		return k.take(s, atLeast)
	}
	sol := k.relax(t, c.live)
	if sol.value+k.exclusiveGain(t, &sol.price) <= atLeast*t.cost {
		return nil
	}
	k.fillExclusive(t, &sol)
	for _, i := range sol.fullItems {
		k.putUpTo(i, k.upTo(i))
	}
	for q := range k.n {
		if i := sol.row[q]; i >= 0 {
			k.putUpTo(i, min(int32(sol.amount[q]+1e-6), k.upTo(i)))
		}
	}
	k.fillGreedily()
	if c.value > 0.8*t.cost {
		k.exchange(t)
	}
	return k.take(s, atLeast)
}

// served are the items without host ports that a bin type may serve and that have
// pods left.
func (k *packer) served(t *binType) []int32 {
	list := k.scratch.live[:0]
	if k.waiting == nil {
		for _, i := range t.sharedItems {
			if k.left[i] > 0 && k.duals[i] > 0 {
				list = append(list, i)
			}
		}
	} else {
		for w, rows := range k.waiting {
			for rows &= t.shared[w]; rows != 0; rows &= rows - 1 {
				list = append(list, int32(w*64+bits.TrailingZeros64(rows)))
			}
		}
	}
	k.scratch.live = list
	return list
}

// putAll puts everything that waits, if it fits.
func (k *packer) putAll() bool {
	c := &k.scratch
	var sum vec.Vector
	for _, i := range c.live {
		req, n := &k.items[i].request, int64(k.left[i])
		for r := range k.n {
			sum[r] += n * req[r]
		}
		if sum[0] > c.free[0] {
			return false
		}
	}
	if !vec.Fits(&sum, &c.free, k.n) {
		return false
	}
	for _, i := range c.live {
		k.put(i, k.left[i])
	}
	return true
}

// upTo is how many waiting pods of an item one node may take, room apart.
func (k *packer) upTo(i int32) int32 {
	if a := k.items[i].conflict; a >= 0 {
		return k.p.conflicts.Limit(a, k.left[i])
	}
	return k.left[i]
}

// done says whether the filling takes no more pods of the item, room apart.
func (k *packer) done(i int32) bool {
	return k.scratch.counts[i] >= k.upTo(i) || k.hasConflicts && k.clashes(i)
}

// exclusiveGain bounds what pods that want to be alone can add to a relaxed
// filling: of items that exclude each other, the best one.
func (k *packer) exclusiveGain(t *binType, price *vec.Reals) float64 {
	sum, best, clique := 0.0, 0.0, int32(-1)
	for _, i := range t.exclusiveItems {
		if k.left[i] == 0 {
			continue
		}
		if k.clique[i] != clique {
			sum, best, clique = sum+best, 0, k.clique[i]
		}
		best = max(best, k.gain(i, k.n, price))
	}
	return sum + best
}

// putUpTo puts as many pods of an item as fit, at most n.
func (k *packer) putUpTo(i, n int32) {
	if n <= 0 || k.hasConflicts && k.clashes(i) {
		return
	}
	if n = vec.MaxCopies(&k.items[i].request, &k.scratch.free, n, k.n); n > 0 {
		k.put(i, n)
	}
}

// fillExclusive places pods that want to be alone of their kind (host ports,
// anti-affinity), of each item one at most: those worth
// most beyond the resources they take, at the prices of the relaxed filling,
// for each item that they keep away.
func (k *packer) fillExclusive(t *binType, sol *relaxed) {
	for {
		best, most := int32(-1), 0.0
		for _, i := range t.exclusiveItems {
			if k.left[i] == 0 || k.clashes(i) || !vec.Fits(&k.items[i].request, &k.scratch.free, k.n) {
				continue
			}
			gain := k.gain(i, k.n, &sol.price)
			if gain /= float64(k.conflictDegree[i]); gain > most {
				best, most = i, gain
			}
		}
		if best < 0 {
			return
		}
		k.put(best, 1)
	}
}

// clashes says whether the filling has pods that keep the item's away.
func (k *packer) clashes(i int32) bool {
	if k.items[i].conflict < 0 {
		return false
	}
	for _, j := range k.scratch.used {
		if k.scratch.counts[j] > 0 && k.p.conflicts.Conflicts(k.items[i].conflict, k.items[j].conflict) {
			return true
		}
	}
	return false
}

// fillGreedily adds the item worth most per share of what is left of each
// resource, a third of what fits at a time.
func (k *packer) fillGreedily() {
	c := &k.scratch
	for {
		var w vec.Reals
		for r := range k.n {
			if c.free[r] > 0 {
				w[r] = 1 / float64(c.free[r])
			}
		}
		best, most, n := int32(-1), 0.0, 0
		for _, i := range c.live {
			d := &k.items[i].request
			if !vec.Fits(d, &c.free, k.n) || k.done(i) {
				continue
			}
			c.live[n] = i
			n++
			share := float64(w[0]*float64(d[0])) + float64(w[1]*float64(d[1])) + float64(w[2]*float64(d[2]))
			for r := 3; r < k.n; r++ {
				share += float64(w[r] * float64(d[r]))
			}
			if v := k.duals[i] / share; v > most {
				best, most = i, v
			}
		}
		c.live = c.live[:n]
		if best < 0 {
			return
		}
		fit := vec.MaxCopies(&k.items[best].request, &c.free, k.upTo(best)-c.counts[best], k.n)
		k.put(best, max(1, fit/3))
	}
}

// exchange swaps single pods for ones worth more that fit in their place, in
// nodes that hold few kinds.
func (k *packer) exchange(t *binType) {
	c := &k.scratch
	for range 3 {
		if len(c.used) > 12 {
			return
		}
		from, to, gain := int32(-1), int32(-1), 1e-12
		for _, i := range c.used {
			if k.items[i].conflict >= 0 || c.counts[i] == 0 {
				continue
			}
			room := c.free
			room.Add(&k.items[i].request, 1)
			for _, j := range t.sharedItems {
				if g := k.duals[j] - k.duals[i]; g > gain && k.items[j].conflict < 0 && c.counts[j] < k.left[j] && vec.Fits(&k.items[j].request, &room, k.n) {
					from, to, gain = i, j, g
				}
			}
		}
		if from < 0 {
			return
		}
		k.put(from, -1)
		k.put(to, 1)
	}
}

// take makes a pattern of the filling and clears it.
func (k *packer) take(s int32, atLeast float64) *pattern {
	c := &k.scratch
	var f *pattern
	if c.value > atLeast*k.binTypes[s].cost {
		f = &pattern{binType: s, value: c.value}
	}
	for _, i := range c.used {
		if f != nil && c.counts[i] > 0 {
			f.items = append(f.items, i)
			f.counts = append(f.counts, c.counts[i])
		}
		c.counts[i] = 0
	}
	return f
}
