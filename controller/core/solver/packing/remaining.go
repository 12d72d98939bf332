package packing

import (
	"math"
	"math/bits"

	"spokeshave.dev/controller/core/solver/vec"
)

// remaining counts the items that are not packed yet.
type remaining struct {
	m    *model
	left []int32
	// upper is, as a float, how many of each item one bin may take now, room
	// apart: not more than are left.
	upper []float64
	// waiting are the items with some left, kept up to date while greedy packs;
	// nil otherwise.
	waiting vec.Bits
	// list is room for served.
	list []int32
}

func newRemaining(m *model) *remaining {
	r := &remaining{m: m, left: make([]int32, len(m.items)), upper: make([]float64, len(m.items))}
	r.refill()
	return r
}

// set says that n of an item are left.
func (r *remaining) set(i, n int32) {
	r.left[i] = n
	r.upper[i] = float64(min(n, r.m.perBin[i]))
}

// most is how many of an item one bin may take now, room apart.
func (r *remaining) most(i int32) int32 { return min(r.left[i], r.m.perBin[i]) }

// refill makes all items wait again.
func (r *remaining) refill() {
	for i := range r.m.items {
		r.set(int32(i), r.m.items[i].Count)
	}
}

// empty makes none wait.
func (r *remaining) empty() {
	clear(r.left)
	clear(r.upper)
}

// none reports whether nothing is left.
func (r *remaining) none() bool {
	for _, n := range r.left {
		if n > 0 {
			return false
		}
	}
	return true
}

// watch keeps waiting up to date until unwatch.
func (r *remaining) watch() {
	r.waiting = vec.NewBits(len(r.left))
	for i, n := range r.left {
		if n > 0 {
			r.waiting.Set(int32(i))
		}
	}
}

func (r *remaining) unwatch() { r.waiting = nil }

// take packs so many bins by a pattern.
func (r *remaining) take(f *Pattern, times int32) {
	for q, i := range f.Items {
		n := r.left[i] - times*f.Counts[q]
		if r.set(i, n); n == 0 && r.waiting != nil {
			r.waiting.Unset(i)
		}
	}
}

// give takes bins of a pattern apart again.
func (r *remaining) give(f *Pattern) {
	for q, i := range f.Items {
		r.set(i, r.left[i]+f.Counts[q])
	}
}

// covers is how often the pattern can be taken from what is left.
func (r *remaining) covers(f *Pattern) int32 {
	n := int32(math.MaxInt32)
	for q, i := range f.Items {
		n = min(n, r.left[i]/f.Counts[q])
	}
	return n
}

// served are the plain items of a bin that are left and, unless watched, worth
// something at the given duals. The list is valid until the next call.
func (r *remaining) served(b *bin, dual []float64) []int32 {
	list := r.list[:0]
	if r.waiting == nil {
		for _, i := range b.plain {
			if r.left[i] > 0 && dual[i] > 0 {
				list = append(list, i)
			}
		}
	} else {
		for w, x := range r.waiting {
			for x &= b.free[w]; x != 0; x &= x - 1 {
				list = append(list, int32(w*64+bits.TrailingZeros64(x)))
			}
		}
	}
	r.list = list
	return list
}
