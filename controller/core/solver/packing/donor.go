package packing

import (
	"cmp"
	"slices"
)

// minorShare is the share in the cost of the whole below which a block is not worth
// a program of its own, when another one prices the same sizes. 0 is the same within
// 0.05 %; it is meant for hundreds of small sets.
const minorShare = 0.05

// dualDonors finds, for every block of little weight, a heavier one that packs the
// same sizes and may use all of its bins; -1 where there is none. Items of the
// lighter block will mostly share bins with items of the heavier one, and a program
// that keeps them apart would price them by bins that nobody needs.
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
			if out[j] < 0 && share[j] > 2*share[i] && blocks[j].set.Contains(blocks[i].set) && blocks[i].itemsOf(blocks[j]) != nil {
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

// itemsOf are the items of o with the sizes of b's; nil when one is missing.
func (b *block) itemsOf(o *block) []int32 {
	sizes := int32(0)
	for _, s := range o.p.m.shape {
		sizes = max(sizes, s+1)
	}
	index := make([]int32, sizes) // one more than the item of the size
	for i := range o.p.m.items {
		if o.p.m.items[i].Group < 0 {
			index[o.p.m.shape[i]] = int32(i) + 1
		}
	}
	out := make([]int32, len(b.p.m.items))
	for i := range b.p.m.items {
		s := b.p.m.shape[i]
		if b.p.m.items[i].Group >= 0 || s >= sizes || index[s] == 0 {
			return nil
		}
		out[i] = index[s] - 1
	}
	return out
}

// inherit takes over the duals of a block that has been priced, more by what the
// best of b's bins costs more when items of both fill it.
func (b *block) inherit(o *block) {
	for i, j := range b.itemsOf(o) {
		b.p.dual[i] = o.p.dual[j]
		b.p.left.set(int32(i), b.p.m.items[i].Count+o.p.m.items[j].Count)
	}
	b.p.normalizeDuals()
	b.p.left.refill()
}
