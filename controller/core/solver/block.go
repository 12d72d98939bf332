package solver

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"spokeshave.dev/controller/core/solver/vec"
)

// block is a part of the items that is priced by a linear program of its own:
// items that are best served by the same bin types. Solving them apart keeps the
// programs small and far from degenerate; what rounding leaves is packed
// together again.
type block struct {
	*packer
	// master is nil when there are too many items for one.
	master *restrictedMaster
	// members are, for each item of the block, the items of the whole packing
	// that it stands for, those with least choice first.
	members [][]int32
}

// maxWholeItems is how many items are priced by one program although they differ
// in what they may use; that finds pods of different choice that go well
// together, but takes long when there are many.
const maxWholeItems = 100

// whole is all items in one block.
func (k *packer) whole() *block {
	sub := &packer{
		p: k.p, n: k.n, items: slices.Clone(k.items), sets: k.sets, packingCost: k.packingCost, stats: &Stats{},
	}
	sub.measure()
	sub.binTypes = slices.Clone(k.binTypes)
	b := &block{packer: sub, members: make([][]int32, len(k.items))}
	for i := range b.members {
		b.members[i] = []int32{int32(i)}
	}
	return b
}

// blocks partitions the items.
func (k *packer) blocks() []*block {
	if len(k.items) <= maxWholeItems {
		return []*block{k.whole()}
	}
	owner := make([]int32, len(k.sets))  // block by set
	also := make([][]int32, len(k.sets)) // others that would serve it as well
	var out []*block
	for _, s := range k.setOrder() {
		binTypes := k.binTypesOf(s)
		owner[s] = -1
		for b := range out {
			switch {
			case !serves(k.sets[s], binTypes, out[b].binTypes, k.n):
			case owner[s] < 0:
				owner[s] = int32(b)
			default:
				also[s] = append(also[s], int32(b))
			}
		}
		if owner[s] < 0 {
			owner[s] = int32(len(out))
			sub := &packer{
				p: k.p, n: k.n, sets: []vec.Bits{k.sets[s]}, packingCost: k.packingCost, stats: &Stats{},
			}
			sub.binTypes = binTypes
			out = append(out, &block{packer: sub})
		}
	}
	ids := map[shareKey]int32{}
	others := make([]int32, len(out)) // pods that share nodes, by block
	for i := range k.items {
		if !k.p.conflicts.Exclusive(k.items[i].conflict) {
			others[owner[k.items[i].set]] += k.items[i].n
		}
	}
	for i := range k.items {
		set := k.items[i].set
		to := []int32{owner[set]}
		if k.p.conflicts.Exclusive(k.items[i].conflict) {
			to = k.open(&k.items[i], out, append(to, also[set]...))
		}
		k.share(int32(i), to, out, ids, others)
	}
	for _, b := range out {
		b.finish(k)
	}
	return out
}

// open adds the blocks whose offers an item may use to those that serve it best, where
// one is large enough: dearer ones bring the others of a node.
func (k *packer) open(r *item, blocks []*block, to []int32) []int32 {
	for b := range blocks {
		at, large := int32(b), func(s binType) bool { return vec.Fits(&r.request, &s.capacity, k.n) }
		if !slices.Contains(to, at) && k.sets[r.set].Contains(blocks[b].sets[0]) && slices.ContainsFunc(blocks[b].binTypes, large) {
			to = append(to, at)
		}
	}
	return to
}

// shareKey says which items of a block are the same to it.
type shareKey struct{ block, requestID, conflict int32 }

// share gives the pods of an item to blocks: pods that want nodes of their own would
// leave those of the other blocks without, and go where others are that fill their
// nodes, in proportion to those.
func (k *packer) share(i int32, to []int32, blocks []*block, ids map[shareKey]int32, others []int32) {
	r := &k.items[i]
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
		key := shareKey{block: o, requestID: r.requestID, conflict: r.conflict}
		j, ok := ids[key]
		if !ok {
			j = int32(len(b.items))
			ids[key] = j
			b.items = append(b.items, item{request: r.request, requestID: r.requestID, conflict: r.conflict})
			b.members = append(b.members, nil)
		}
		b.items[j].n += n
		b.members[j] = append(b.members[j], i)
	}
}

// setOrder lists the sets in use, smallest first: a set joins the block of one
// that leaves less choice, never the other way round.
func (k *packer) setOrder() []int32 {
	used := make([]bool, len(k.sets))
	for i := range k.items {
		used[k.items[i].set] = true
	}
	var out []int32
	for s := range k.sets {
		if used[s] {
			out = append(out, int32(s))
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		if o := cmp.Compare(k.sets[a].Count(), k.sets[b].Count()); o != 0 {
			return o
		}
		return slices.Compare(k.sets[a], k.sets[b])
	})
	return out
}

// binTypesOf are the bin types that matter to items that may use the set, without those
// that another beats in cost and room.
func (k *packer) binTypesOf(set int32) []binType {
	room := k.used()
	var kept []int32
	rooms := k.scratch.capacities[:0]
next:
	for i := range k.binTypes {
		s := &k.binTypes[i]
		if !s.sets.Has(set) {
			continue
		}
		for j := range rooms {
			if k.within(&s.capacity, &rooms[j], room) {
				continue next
			}
		}
		kept, rooms = append(kept, int32(i)), append(rooms, s.capacity)
	}
	k.scratch.capacities = rooms
	out := make([]binType, len(kept))
	for i, j := range kept {
		s := &k.binTypes[j]
		out[i] = binType{offer: s.offer, capacity: s.capacity, cost: s.cost}
	}
	return out
}

// serves says whether items with the given set, whose best bin types are mine,
// lose nothing by using the block's bin types alone.
func serves(set vec.Bits, mine, theirs []binType, n int) bool {
	for i := range theirs {
		if !set.Has(theirs[i].offer) {
			return false
		}
	}
	for i := range mine {
		found := false
		for j := range theirs {
			if theirs[j].cost <= mine[i].cost*(1+1e-9) && vec.Fits(&mine[i].capacity, &theirs[j].capacity, n) {
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

// finish prepares the block's packer once all its items are known.
func (b *block) finish(k *packer) {
	for j := range b.members {
		slices.SortStableFunc(b.members[j], func(x, y int32) int {
			return cmp.Compare(k.sets[k.items[x].set].Count(), k.sets[k.items[y].set].Count())
		})
	}
	b.measure()
	binTypes := b.binTypes[:0]
	for _, s := range b.binTypes {
		b.listItems(&s, nil) // the block has one set
		if len(s.sharedItems)+len(s.exclusiveItems) > 0 {
			binTypes = append(binTypes, s)
		}
	}
	b.binTypes = binTypes
}

// expand writes times nodes of a block's pattern in items of the whole packing
// k and takes their pods.
func (b *block) expand(k *packer, f *pattern, times int32, out []packing) []packing {
	for times > 0 {
		e := &pattern{}
		copies := times
		for q, j := range f.items {
			need := f.counts[q]
			for _, i := range b.members[j] {
				n := min(need, k.left[i])
				if n == 0 {
					continue
				}
				e.items, e.counts = append(e.items, i), append(e.counts, n)
				copies = min(copies, k.left[i]/n)
				if need -= n; need == 0 {
					break
				}
			}
		}
		for q, i := range e.items {
			k.left[i] -= copies * e.counts[q]
		}
		d := k.demand(e)
		e.binType = k.smallest(e, &d)
		out = append(out, packing{e, copies})
		times -= copies
	}
	return out
}

// solve prices the block's items in at most so many moves.
func (b *block) solve(moves int, tolerance float64) {
	if len(b.items) > maxMasterItems {
		b.initialDuals()
		return
	}
	if b.master == nil {
		b.master = newRestrictedMaster(b.packer)
	}
	b.master.run(moves, tolerance)
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

// importDuals takes over what the blocks found their items, and the room of their
// bin types, to be worth.
func (k *packer) importDuals(blocks []*block) {
	hints := map[int32]*binType{}
	for _, b := range blocks {
		for s := range b.binTypes {
			hints[b.binTypes[s].offer] = &b.binTypes[s]
		}
		for j, members := range b.members {
			for _, i := range members {
				k.duals[i] = b.duals[j]
			}
		}
	}
	for s := range k.binTypes {
		if h := hints[k.binTypes[s].offer]; h != nil {
			k.binTypes[s].resourcePrices = h.resourcePrices
		}
	}
}
