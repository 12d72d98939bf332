package solver

import (
	"cmp"
	"slices"
)

// minorShare is the share in the cost of the whole below which a block is not
// worth a program of its own, when another one prices the same shapes.
const minorShare = 0.05

// dualDonors finds, for every block of little weight, a heavier one that packs the
// same shapes and may use all of its bin types; -1 where there is none. Pods of
// the lighter block will mostly share nodes with pods of the heavier one, and
// a program that keeps them apart would price them by nodes that nobody needs.
func dualDonors(blocks []*block, share []float64) []int {
	order, out := byShare(share), make([]int, len(blocks))
	for i := range blocks {
		out[i] = -1
	}
	for at, i := range order {
		if share[i] >= minorShare {
			continue
		}
		for _, j := range order[:at] {
			if out[j] < 0 && share[j] > 2*share[i] && blocks[j].sets[0].Contains(blocks[i].sets[0]) && blocks[i].matchingItems(blocks[j]) != nil {
				out[i] = j
				break
			}
		}
	}
	return out
}

// byShare orders the blocks, the heaviest first.
func byShare(share []float64) []int {
	order := make([]int, len(share))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(share[b], share[a]) })
	return order
}

// matchingItems are the items of o with the requests of b's; nil when one is missing.
func (b *block) matchingItems(o *block) []int32 {
	shapes := int32(0)
	for i := range o.items {
		shapes = max(shapes, o.items[i].requestID+1)
	}
	index := make([]int32, shapes) // one more than the item of the shape
	for i := range o.items {
		if o.items[i].conflict < 0 {
			index[o.items[i].requestID] = int32(i) + 1
		}
	}
	out := make([]int32, len(b.items))
	for i := range b.items {
		r := &b.items[i]
		if r.conflict >= 0 || r.requestID >= shapes || index[r.requestID] == 0 {
			return nil
		}
		out[i] = index[r.requestID] - 1
	}
	return out
}

// inheritDuals takes over the duals of a block that has been priced, more by what
// the best of b's bin types costs more when pods of both fill it.
func (b *block) inheritDuals(o *block) {
	for i, j := range b.matchingItems(o) {
		b.duals[i] = o.duals[j]
		b.left[i] = b.items[i].n + o.items[j].n
	}
	b.normalizeDuals()
	b.refill()
}
