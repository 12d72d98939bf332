package solver

// nearlyGood is the part of its cost that a pattern is worth at least to be tried
// by the blocks that follow.
const nearlyGood = 0.9

// leads finds, for every block with a program, the heaviest one before it, in
// order of share, that packs much the same rows, as the blocks of different zones do;
// -1 where there is none. Its program starts from the patterns of that one.
func (k *packer) leads(blocks []*block, share []float64, heirs []int) []int {
	out := make([]int, len(blocks))
	for i := range blocks {
		out[i] = -1
	}
	order := byShare(share)
	for at, i := range order {
		if heirs[i] >= 0 || !blocks[i].programmed() {
			continue
		}
		for _, j := range order[:at] {
			if heirs[j] < 0 && out[j] < 0 && blocks[j].programmed() && 2*blocks[i].common(blocks[j]) >= len(blocks[i].rows) {
				out[i] = j
				break
			}
		}
	}
	return out
}

// programmed says whether the block has a program.
func (b *block) programmed() bool { return !b.pourable() && len(b.rows) <= maxProgramRows }

// kindOf says which rows of different blocks are the same to patterns.
type kindOf struct{ shape, apart int32 }

func (b *block) kinds() map[kindOf]int32 {
	out := make(map[kindOf]int32, len(b.rows))
	for i := range b.rows {
		out[kindOf{b.rows[i].shape, b.rows[i].apart}] = int32(i)
	}
	return out
}

// common counts the rows that the other block has, too.
func (b *block) common(o *block) int {
	kinds, n := o.kinds(), 0
	for i := range b.rows {
		if _, ok := kinds[kindOf{b.rows[i].shape, b.rows[i].apart}]; ok {
			n++
		}
	}
	return n
}

// follow starts the block's program from the patterns and the worths of another.
func (b *block) follow(o *block) {
	g := newProgram(b.packer)
	b.program = g
	kinds := b.kinds()
	rows := make([]int32, len(o.rows)) // one more than the row of b
	for i := range o.rows {
		if j, ok := kinds[kindOf{o.rows[i].shape, o.rows[i].apart}]; ok {
			rows[i] = j + 1
			g.smooth[j] = o.worth[i]
		}
	}
	for _, f := range o.program.columns {
		if len(f.idx) < 2 || o.worthOf(f) < nearlyGood*o.sites[f.site].cost {
			continue
		}
		c := &pattern{}
		var demand vec
		for q, i := range f.idx {
			if rows[i] > 0 {
				c.idx, c.cnt = append(c.idx, rows[i]-1), append(c.cnt, f.cnt[q])
				demand.add(&o.rows[i].req, int64(f.cnt[q]))
			}
		}
		for s := range b.sites {
			if fits(&demand, &b.sites[s].room, b.n) {
				c.site = int32(s)
				g.columns = append(g.columns, c)
				break
			}
		}
	}
}
