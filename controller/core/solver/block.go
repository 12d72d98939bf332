package solver

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// block is a part of the rows that is priced by a linear program of its own:
// rows that are best served by the same sites. Solving them apart keeps the
// programs small and far from degenerate; what rounding leaves is packed
// together again.
type block struct {
	*packer
	// program is nil when there are too many rows for one.
	program *program
	// members are, for each row of the block, the rows of the whole packing
	// that it stands for, those with least choice first.
	members [][]int32
}

// maxWholeRows is how many rows are priced by one program although they differ
// in what they may use; that finds pods of different choice that go well
// together, but takes long when there are many.
const maxWholeRows = 100

// whole is all rows in one block.
func (k *packer) whole() *block {
	sub := &packer{
		p: k.p, n: k.n, rows: slices.Clone(k.rows), sets: k.sets, charge: k.charge, stats: &Stats{},
	}
	sub.measure()
	sub.sites = slices.Clone(k.sites)
	b := &block{packer: sub, members: make([][]int32, len(k.rows))}
	for i := range b.members {
		b.members[i] = []int32{int32(i)}
	}
	return b
}

// blocks partitions the rows.
func (k *packer) blocks() []*block {
	if len(k.rows) <= maxWholeRows {
		return []*block{k.whole()}
	}
	owner := make([]int32, len(k.sets))  // block by set
	also := make([][]int32, len(k.sets)) // others that would serve it as well
	var out []*block
	for _, s := range k.setOrder() {
		sites := k.sitesOf(s)
		owner[s] = -1
		for b := range out {
			switch {
			case !serves(k.sets[s], sites, out[b].sites, k.n):
			case owner[s] < 0:
				owner[s] = int32(b)
			default:
				also[s] = append(also[s], int32(b))
			}
		}
		if owner[s] < 0 {
			owner[s] = int32(len(out))
			sub := &packer{
				p: k.p, n: k.n, sets: []bitset{k.sets[s]}, charge: k.charge, stats: &Stats{},
			}
			sub.sites = sites
			out = append(out, &block{packer: sub})
		}
	}
	ids := map[shareKey]int32{}
	others := make([]int32, len(out)) // pods that share nodes, by block
	for i := range k.rows {
		if !k.p.apart.alone(k.rows[i].apart) {
			others[owner[k.rows[i].set]] += k.rows[i].n
		}
	}
	for i := range k.rows {
		set := k.rows[i].set
		to := []int32{owner[set]}
		if k.p.apart.alone(k.rows[i].apart) {
			to = k.open(&k.rows[i], out, append(to, also[set]...))
		}
		k.share(int32(i), to, out, ids, others)
	}
	for _, b := range out {
		b.finish(k)
	}
	return out
}

// open adds the blocks whose offers a row may use to those that serve it best, where
// one is large enough: dearer ones bring the others of a node.
func (k *packer) open(r *row, blocks []*block, to []int32) []int32 {
	for b := range blocks {
		at, large := int32(b), func(s site) bool { return fits(&r.req, &s.room, k.n) }
		if !slices.Contains(to, at) && k.sets[r.set].contains(blocks[b].sets[0]) && slices.ContainsFunc(blocks[b].sites, large) {
			to = append(to, at)
		}
	}
	return to
}

// shareKey says which rows of a block are the same to it.
type shareKey struct{ block, shape, apart int32 }

// share gives the pods of a row to blocks: pods that want nodes of their own would
// leave those of the other blocks without, and go where others are that fill their
// nodes, in proportion to those.
func (k *packer) share(i int32, to []int32, blocks []*block, ids map[shareKey]int32, others []int32) {
	r := &k.rows[i]
	total := int64(0)
	for _, o := range to {
		total += int64(others[o])
	}
	sum, given := int64(0), int32(0)
	for at, o := range to {
		sum += int64(others[o])
		upTo := r.n * int32(at+1) / int32(len(to))
		if total > 0 {
			upTo = int32(int64(r.n) * sum / total)
		}
		n := upTo - given
		given = upTo
		if n == 0 {
			continue
		}
		b := blocks[o]
		key := shareKey{block: o, shape: r.shape, apart: r.apart}
		j, ok := ids[key]
		if !ok {
			j = int32(len(b.rows))
			ids[key] = j
			b.rows = append(b.rows, row{req: r.req, shape: r.shape, apart: r.apart})
			b.members = append(b.members, nil)
		}
		b.rows[j].n += n
		b.members[j] = append(b.members[j], i)
	}
}

// setOrder lists the sets in use, smallest first: a set joins the block of one
// that leaves less choice, never the other way round.
func (k *packer) setOrder() []int32 {
	used := make([]bool, len(k.sets))
	for i := range k.rows {
		used[k.rows[i].set] = true
	}
	var out []int32
	for s := range k.sets {
		if used[s] {
			out = append(out, int32(s))
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		if o := cmp.Compare(k.sets[a].count(), k.sets[b].count()); o != 0 {
			return o
		}
		return slices.Compare(k.sets[a], k.sets[b])
	})
	return out
}

// sitesOf are the sites that matter to rows that may use the set, without those
// that another beats in cost and room.
func (k *packer) sitesOf(set int32) []site {
	room := k.used()
	var kept []int32
	rooms := k.scratch.rooms[:0]
next:
	for i := range k.sites {
		s := &k.sites[i]
		if !s.sets.has(set) {
			continue
		}
		for j := range rooms {
			if k.within(&s.room, &rooms[j], room) {
				continue next
			}
		}
		kept, rooms = append(kept, int32(i)), append(rooms, s.room)
	}
	k.scratch.rooms = rooms
	out := make([]site, len(kept))
	for i, j := range kept {
		s := &k.sites[j]
		out[i] = site{offer: s.offer, room: s.room, cost: s.cost}
	}
	return out
}

// serves says whether rows with the given set, whose best sites are mine,
// lose nothing by using the block's sites alone.
func serves(set bitset, mine, theirs []site, n int) bool {
	for i := range theirs {
		if !set.has(theirs[i].offer) {
			return false
		}
	}
	for i := range mine {
		found := false
		for j := range theirs {
			if theirs[j].cost <= mine[i].cost*(1+1e-9) && fits(&mine[i].room, &theirs[j].room, n) {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// finish prepares the block's packer once all its rows are known.
func (b *block) finish(k *packer) {
	for j := range b.members {
		slices.SortStableFunc(b.members[j], func(x, y int32) int {
			return cmp.Compare(k.sets[k.rows[x].set].count(), k.sets[k.rows[y].set].count())
		})
	}
	b.measure()
	sites := b.sites[:0]
	for _, s := range b.sites {
		b.serve(&s, nil) // the block has one set
		if len(s.plain)+len(s.ported) > 0 {
			sites = append(sites, s)
		}
	}
	b.sites = sites
}

// expand writes times nodes of a block's pattern in rows of the whole packing
// k and takes their pods.
func (b *block) expand(k *packer, f *pattern, times int32, out []packing) []packing {
	for times > 0 {
		e := &pattern{}
		copies := times
		for q, j := range f.idx {
			need := f.cnt[q]
			for _, i := range b.members[j] {
				n := min(need, k.left[i])
				if n == 0 {
					continue
				}
				e.idx, e.cnt = append(e.idx, i), append(e.cnt, n)
				copies = min(copies, k.left[i]/n)
				if need -= n; need == 0 {
					break
				}
			}
		}
		for q, i := range e.idx {
			k.left[i] -= copies * e.cnt[q]
		}
		d := k.demand(e)
		e.site = k.smallest(e, &d)
		out = append(out, packing{e, copies})
		times -= copies
	}
	return out
}

// solve prices the block's rows in at most so many moves.
func (b *block) solve(moves int, tolerance float64) {
	if len(b.rows) > maxProgramRows {
		b.guess()
		return
	}
	if b.program == nil {
		b.program = newProgram(b.packer)
	}
	b.program.run(moves, tolerance)
}

// each calls do for every block, on as many processors as there are. Blocks
// share nothing that changes, so that the order does not matter.
func each(blocks []*block, do func(i int, b *block)) {
	var wait sync.WaitGroup
	next := atomic.Int64{}
	for range min(len(blocks), runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(blocks); i = int(next.Add(1)) - 1 {
				do(i, blocks[i])
			}
		})
	}
	wait.Wait()
}

// learn takes over what the blocks found their rows, and the room of their
// sites, to be worth.
func (k *packer) learn(blocks []*block) {
	hints := map[int32]*site{}
	for _, b := range blocks {
		for s := range b.sites {
			hints[b.sites[s].offer] = &b.sites[s]
		}
		for j, members := range b.members {
			for _, i := range members {
				k.worth[i] = b.worth[j]
			}
		}
	}
	for s := range k.sites {
		if h := hints[k.sites[s].offer]; h != nil {
			k.sites[s].hint = h.hint
		}
	}
}
