package packing

import (
	"cmp"
	"slices"
)

// A restricted master of m items takes O(m^2) for a pivot, and pivots and passes that grow
// with m as well. Options.Effort ended those of large blocks long before their duals were
// right. Such a block is parted into pieces, which are priced apart. Rounding and greedy see
// all items again, so that what is lost is that no pattern of a master has items of two pieces.
const (
	// maxBlockItems is up to how many items a block is priced whole.
	maxBlockItems = 70
	// pieceItems is about how many items a piece has. 35 and 50 cost up to 0.7 % more or less.
	pieceItems = 40
	// pieceEffort is how many times the moves of its share a piece gets: 1 costs up to 2.5 %
	// more, and 3 takes so many moves of the plans of 30 NodePools that one of five costs 10 % more.
	pieceEffort = 2
)

// pieces parts a large block evenly: items that want bins of their own and those that fill them
// are dealt apart, the most numerous items first, to the piece that has the fewest so far. (Every
// other item to each of two pieces: up to 22 % dearer, where those were the large ones.)
func (x *part) pieces(c *Conflicts) []part {
	n := len(x.items)
	if n <= maxBlockItems {
		return []part{*x}
	}
	out := make([]part, (n+pieceItems-1)/pieceItems)
	for j := range out {
		out[j] = part{set: x.set, bins: slices.Clone(x.bins), piece: true} // finish drops bins in place
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x.items[b].Count, x.items[a].Count) })
	most, held := (n+len(out)-1)/len(out), make([][2]int64, len(out))
	for _, i := range order {
		kind := 0
		if c.single(x.items[i].Group) {
			kind = 1
		}
		at := -1
		for j := range out {
			if len(out[j].items) < most && (at < 0 || held[j][kind] < held[at][kind]) {
				at = j
			}
		}
		held[at][kind] += int64(x.items[i].Count)
		o := &out[at]
		o.items, o.shape, o.members = append(o.items, x.items[i]), append(o.shape, x.shape[i]), append(o.members, x.members[i])
	}
	return out
}
