package packing

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// block is a part of the items that is priced by a program of its own: items that
// are best served by the same bins. Pricing them apart keeps the programs small and
// far from degenerate; what rounding leaves is packed together again.
type block struct {
	p *pricer
	// set is the smallest of the sets of bin types that its items may use.
	set vec.Bits
	// master is nil when there is no restricted master.
	master *restrictedMaster
	// members are, for each item of the block, the items of the whole instance
	// that it stands for, those with least choice first.
	members [][]int32
	// piece is set for a part of a larger block.
	piece bool
	stats Stats
}

// solve prices the block's items in at most so many moves.
func (b *block) solve(moves int, tolerance float64) {
	if b.master == nil {
		b.master = newMaster(b.p)
	}
	b.master.run(moves, tolerance)
}

// maxWholeItems is up to how many items are priced by one program although they
// differ in what they may use; that finds items of different choice that go well
// together, but takes long when there are many: of 120 items, 0.3 % cheaper for three
// times the time (docs/measurements/solver.md).
const maxWholeItems = 100

// blocks partitions the items of an instance.
func blocks(in *Instance, m *model) []*block {
	if len(m.items) > maxWholeItems {
		p := partition{in: in, m: m, owner: make([]int32, len(in.Sets)), also: make([][]int32, len(in.Sets)), ids: map[partKey]int32{}}
		return p.blocks()
	}
	b := &block{members: make([][]int32, len(m.items))}
	b.p = newPricer(m, &b.stats)
	for i := range b.members {
		b.members[i] = []int32{int32(i)}
	}
	return []*block{b}
}

// partition makes blocks, one for every set of bin types that none of those before
// serves as well.
type partition struct {
	in *Instance
	m  *model
	// owner is the block of each set, also are others that would serve it as well.
	owner []int32
	also  [][]int32
	parts []part
	// ids number the items of the blocks.
	ids map[partKey]int32
}

// part is a block in the making.
type part struct {
	set     int32
	bins    []bin
	items   []Item
	shape   []int32
	members [][]int32
	// others counts the items that share bins.
	others int32
	piece  bool
}

// partKey says which items of a block are the same to it.
type partKey struct{ block, shape, group int32 }

func (p *partition) blocks() []*block {
	for _, s := range p.setOrder() {
		p.open(s)
	}
	for i := range p.m.items {
		if it := &p.m.items[i]; !p.in.Conflicts.single(it.Group) {
			p.parts[p.owner[it.Set]].others += it.Count
		}
	}
	for i := range p.m.items {
		it := &p.m.items[i]
		to := []int32{p.owner[it.Set]}
		if p.in.Conflicts.single(it.Group) {
			to = p.spread(it, append(to, p.also[it.Set]...))
		}
		p.share(int32(i), to)
	}
	var out []*block
	for i := range p.parts {
		for _, x := range p.parts[i].pieces(&p.in.Conflicts) {
			out = append(out, p.finish(&x))
		}
	}
	return out
}

// setOrder lists the sets in use, smallest first: a set joins the block of one that
// leaves less choice, never the other way round.
func (p *partition) setOrder() []int32 {
	used := make([]bool, len(p.in.Sets))
	for i := range p.m.items {
		used[p.m.items[i].Set] = true
	}
	var out []int32
	for s := range used {
		if used[s] {
			out = append(out, int32(s))
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		x, y := p.in.Sets[a], p.in.Sets[b]
		if o := cmp.Compare(x.Count(), y.Count()); o != 0 {
			return o
		}
		return slices.Compare(x, y)
	})
	return out
}

// open finds the blocks that serve a set, and makes one when there is none.
func (p *partition) open(s int32) {
	mine := p.m.binsOf(s)
	p.owner[s] = -1
	for b := range p.parts {
		switch {
		case !serves(p.in.Sets[s], mine, p.parts[b].bins, p.m.n):
		case p.owner[s] < 0:
			p.owner[s] = int32(b)
		default:
			p.also[s] = append(p.also[s], int32(b))
		}
	}
	if p.owner[s] < 0 {
		p.owner[s] = int32(len(p.parts))
		p.parts = append(p.parts, part{set: s, bins: mine})
	}
}

// binsOf are the bins that matter to items that may use the set, without those that
// another beats in cost and capacity.
func (m *model) binsOf(set int32) []bin {
	used := m.used()
	kept := make([]keptBin, 0, len(m.bins))
next:
	for i := range m.bins {
		b := &m.bins[i]
		if !b.sets.Has(set) {
			continue
		}
		first, second := lead(&b.capacity, &used)
		for _, o := range kept {
			if first <= o.first && second <= o.second && within(&b.capacity, &m.bins[o.at].capacity, &used, m.n) {
				continue next
			}
		}
		kept = append(kept, keptBin{first: first, second: second, at: int32(i)})
	}
	out := make([]bin, len(kept))
	for i, o := range kept { // whom it serves is another question in a block
		b := &m.bins[o.at]
		out[i] = bin{kind: b.kind, cost: b.cost, capacity: b.capacity, size: b.size}
	}
	return out
}

// serves reports whether items with the given set, whose best bins are mine, lose
// nothing by using the block's bins alone.
func serves(set vec.Bits, mine, theirs []bin, n int) bool {
	for i := range theirs {
		if !set.Has(theirs[i].kind) {
			return false
		}
	}
	for i := range mine {
		if !replaces(theirs, &mine[i], n) {
			return false
		}
	}
	return true
}

// replaces reports whether a bin costs no more than b and holds as much.
func replaces(bins []bin, b *bin, n int) bool {
	for i := range bins {
		if bins[i].cost <= b.cost*(1+1e-9) && vec.Fits(&b.capacity, &bins[i].capacity, n) {
			return true
		}
	}
	return false
}

// holds reports whether a bin is large enough for an item.
func holds(bins []bin, it *Item, n int) bool {
	for i := range bins {
		if vec.Fits(&it.Size, &bins[i].capacity, n) {
			return true
		}
	}
	return false
}

// spread adds the blocks whose bin types an item may use to those that serve it best,
// where one is large enough: dearer ones bring the others of a bin.
func (p *partition) spread(it *Item, to []int32) []int32 {
	for b := range p.parts {
		if !slices.Contains(to, int32(b)) && p.in.Sets[it.Set].Contains(p.in.Sets[p.parts[b].set]) && holds(p.parts[b].bins, it, p.m.n) {
			to = append(to, int32(b))
		}
	}
	return to
}

// share gives an item to blocks: items that want bins of their own would leave those
// of the other blocks without, and go where others are that fill their bins, in
// proportion to those. (In equal parts: 5 % dearer on spot; docs/measurements/solver.md.)
func (p *partition) share(i int32, to []int32) {
	it := &p.m.items[i]
	total := int64(0)
	for _, b := range to {
		total += int64(p.parts[b].others)
	}
	sum, given := int64(0), int32(0)
	for at, b := range to {
		sum += int64(p.parts[b].others)
		upTo := it.Count * int32(at+1) / int32(len(to))
		if total > 0 {
			upTo = int32(int64(it.Count) * sum / total)
		}
		n := upTo - given
		given = upTo
		if n > 0 {
			p.add(b, i, n)
		}
	}
}

// add adds n of an item to a block.
func (p *partition) add(b, i, n int32) {
	it, x := &p.m.items[i], &p.parts[b]
	key := partKey{block: b, shape: p.m.shape[i], group: it.Group}
	j, ok := p.ids[key]
	if !ok {
		j = int32(len(x.items))
		p.ids[key] = j
		x.items = append(x.items, Item{Size: it.Size, Group: it.Group})
		x.shape = append(x.shape, p.m.shape[i])
		x.members = append(x.members, nil)
	}
	x.items[j].Count += n
	x.members[j] = append(x.members[j], i)
}

// finish makes a block once all its items are known.
func (p *partition) finish(x *part) *block {
	for j := range x.members {
		slices.SortStableFunc(x.members[j], func(a, b int32) int {
			return cmp.Compare(p.in.Sets[p.m.items[a].Set].Count(), p.in.Sets[p.m.items[b].Set].Count())
		})
	}
	m := newModel(p.in, x.items, x.shape)
	l := newLayout(m)
	m.bins = x.bins[:0]
	for i := range x.bins {
		if l.serve(&x.bins[i], nil) { // the block has one set
			m.bins = append(m.bins, x.bins[i])
		}
	}
	b := &block{set: p.in.Sets[x.set], members: x.members, piece: x.piece}
	b.p = newPricer(m, &b.stats)
	return b
}
