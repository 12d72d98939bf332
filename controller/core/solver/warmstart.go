package solver

import "spokeshave.dev/controller/core/solver/vec"

// warmStartValue is the part of its cost that a pattern is worth at least to be tried
// by the blocks that follow.
const warmStartValue = 0.9

// warmStartSources finds, for every block with a program, the heaviest one before it, in
// order of share, that packs much the same items, as the blocks of different zones do;
// -1 where there is none. Its program starts from the patterns of that one.
func (k *packer) warmStartSources(blocks []*block, share []float64, heirs []int) []int {
	out := make([]int, len(blocks))
	for i := range blocks {
		out[i] = -1
	}
	order := byShare(share)
	for at, i := range order {
		if heirs[i] >= 0 || !blocks[i].usesMaster() {
			continue
		}
		for _, j := range order[:at] {
			if heirs[j] < 0 && out[j] < 0 && blocks[j].usesMaster() && 2*blocks[i].commonItems(blocks[j]) >= len(blocks[i].items) {
				out[i] = j
				break
			}
		}
	}
	return out
}

// usesMaster says whether the block has a program.
func (b *block) usesMaster() bool { return !b.useAggregateLP() && len(b.items) <= maxMasterItems }

// itemKind says which items of different blocks are the same to patterns.
type itemKind struct{ requestID, conflict int32 }

func (b *block) itemsByKind() map[itemKind]int32 {
	out := make(map[itemKind]int32, len(b.items))
	for i := range b.items {
		out[itemKind{b.items[i].requestID, b.items[i].conflict}] = int32(i)
	}
	return out
}

// commonItems counts the items that the other block has, too.
func (b *block) commonItems(o *block) int {
	kinds, n := o.itemsByKind(), 0
	for i := range b.items {
		if _, ok := kinds[itemKind{b.items[i].requestID, b.items[i].conflict}]; ok {
			n++
		}
	}
	return n
}

// warmStart starts the block's program from the patterns and the duals of another.
func (b *block) warmStart(o *block) {
	g := newRestrictedMaster(b.packer)
	b.master = g
	kinds := b.itemsByKind()
	items := make([]int32, len(o.items)) // one more than the item of b
	for i := range o.items {
		if j, ok := kinds[itemKind{o.items[i].requestID, o.items[i].conflict}]; ok {
			items[i] = j + 1
			g.smoothedDuals[j] = o.duals[i]
		}
	}
	for _, f := range o.master.columns {
		if len(f.items) < 2 || o.patternValue(f) < warmStartValue*o.binTypes[f.binType].cost {
			continue
		}
		c := &pattern{}
		var demand vec.Vector
		for q, i := range f.items {
			if items[i] > 0 {
				c.items, c.counts = append(c.items, items[i]-1), append(c.counts, f.counts[q])
				demand.Add(&o.items[i].request, int64(f.counts[q]))
			}
		}
		for s := range b.binTypes {
			if vec.Fits(&demand, &b.binTypes[s].capacity, b.n) {
				c.binType = int32(s)
				g.columns = append(g.columns, c)
				break
			}
		}
	}
}
