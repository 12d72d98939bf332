package solver

import (
	"cmp"
	"slices"
)

// minorShare is the share in the cost of the whole below which a block is not
// worth a program of its own, when another one prices the same shapes.
const minorShare = 0.05

// kin finds, for every block of little weight, a heavier one that packs the
// same shapes and may use all of its sites; -1 where there is none. Pods of
// the lighter block will mostly share nodes with pods of the heavier one, and
// a program that keeps them apart would price them by nodes that nobody needs.
func kin(blocks []*block, share []float64) []int {
	order, out := byShare(share), make([]int, len(blocks))
	for i := range blocks {
		out[i] = -1
	}
	for at, i := range order {
		if share[i] >= minorShare {
			continue
		}
		for _, j := range order[:at] {
			if out[j] < 0 && share[j] > 2*share[i] && blocks[j].sets[0].contains(blocks[i].sets[0]) && blocks[i].rowsOf(blocks[j]) != nil {
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

// rowsOf are the rows of o with the requests of b's; nil when one is missing.
func (b *block) rowsOf(o *block) []int32 {
	shapes := int32(0)
	for i := range o.rows {
		shapes = max(shapes, o.rows[i].shape+1)
	}
	index := make([]int32, shapes) // one more than the row of the shape
	for i := range o.rows {
		if o.rows[i].apart < 0 {
			index[o.rows[i].shape] = int32(i) + 1
		}
	}
	out := make([]int32, len(b.rows))
	for i := range b.rows {
		r := &b.rows[i]
		if r.apart >= 0 || r.shape >= shapes || index[r.shape] == 0 {
			return nil
		}
		out[i] = index[r.shape] - 1
	}
	return out
}

// inherit takes over the worths of a block that has been priced, more by what
// the best of b's sites costs more when pods of both fill it.
func (b *block) inherit(o *block) {
	for i, j := range b.rowsOf(o) {
		b.worth[i] = o.worth[j]
		b.left[i] = b.rows[i].n + o.rows[j].n
	}
	b.level()
	b.refill()
}
