package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// Bounds of the polishing, which looks at single nodes.
const (
	// maxPolished is how many nodes, the ones that pay least, are looked at.
	maxPolished = 160
	// maxRuins is how many groups of nodes are packed again.
	maxRuins = 24
	// patience is how many groups may bring nothing before polishing ends.
	patience = 6
	// ruinSize is how many nodes are packed again together.
	ruinSize = 5
)

// polish improves a packing node by node: it joins pairs that one node could
// hold for less, then takes apart the nodes that pay least, a few at a time,
// and packs their pods again.
func (k *packer) polish(list []packing, effort int) []packing {
	k.newLargest()
	kept, nodes := k.singles(list)
	nodes = k.merge(nodes)
	for round, idle := 0, 0; round < min(maxRuins, effort) && idle < patience; round++ {
		var better bool
		nodes, better = k.ruin(nodes, round)
		if idle++; better {
			nodes, idle = k.merge(nodes), 0
		}
	}
	return append(kept, nodes...)
}

// singles splits off the nodes that pay least, each on its own.
func (k *packer) singles(list []packing) (kept, nodes []packing) {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b packing) int { return cmp.Compare(k.rateOf(a), k.rateOf(b)) })
	for i, f := range list {
		for f.times > 0 && len(nodes) < maxPolished {
			nodes = append(nodes, packing{f.pattern, 1})
			f.times--
		}
		if f.times > 0 {
			kept = append(append(kept, f), list[i+1:]...)
			break
		}
	}
	return kept, nodes
}

// rateOf is the worth of a packing's pods for its cost.
func (k *packer) rateOf(f packing) float64 {
	return k.patternValue(f.pattern) / k.binTypes[f.binType].cost
}

// single is one node, with what joining it to others depends on.
type single struct {
	packing
	demand vec.Vector
	rows   vec.Bits
}

// merge joins pairs of nodes as long as one node costs less than the two.
func (k *packer) merge(nodes []packing) []packing {
	slices.SortStableFunc(nodes, func(a, b packing) int { return cmp.Compare(a.binType, b.binType) })
	each := make([]single, len(nodes))
	for i, f := range nodes {
		each[i] = single{packing: f, demand: k.demand(f.pattern), rows: vec.NewBits(len(k.items))}
		for _, r := range f.items {
			each[i].rows.Set(r)
		}
	}
	for i := 0; i < len(each); i++ {
		from := 0
		if i > 0 && each[i].pattern == each[i-1].pattern {
			from = i - 1 // its twin has tried all the others
		}
		for j := from; j < i; j++ {
			if f := k.join(&each[i], &each[j]); f != nil {
				each[i] = *f
				each = slices.Delete(each, j, j+1)
				i, j = i-1, -1
			}
		}
	}
	nodes = nodes[:0]
	for i := range each {
		nodes = append(nodes, each[i].packing)
	}
	return nodes
}

// join makes one node of two if that costs less, nil otherwise.
func (k *packer) join(a, b *single) *single {
	most := (k.binTypes[a.binType].cost + k.binTypes[b.binType].cost) * (1 - 1e-9)
	sum := a.demand
	sum.Add(&b.demand, 1)
	for s := max(a.binType, b.binType, k.firstHolding(&sum)); int(s) < len(k.binTypes) && k.binTypes[s].cost < most; s++ {
		t := &k.binTypes[s]
		if !vec.Fits(&sum, &t.capacity, k.n) || !t.items.Contains(a.rows) || !t.items.Contains(b.rows) {
			continue
		}
		if k.conflictsBetween(a.pattern, b.pattern) {
			return nil
		}
		f := &pattern{binType: s, items: slices.Concat(a.items, b.items), counts: slices.Concat(a.counts, b.counts)}
		items := a.rows.Clone()
		items.Or(b.rows)
		return &single{packing: packing{f, 1}, demand: sum, rows: items}
	}
	return nil
}

// largestSoFar is how much cpu and memory any bin type has up to one, in order of cost.
type largestSoFar struct{ cpu, memory int64 }

// newLargest looks how large bin types are.
func (k *packer) newLargest() {
	k.largest = make([]largestSoFar, len(k.binTypes))
	var most largestSoFar
	for s := range k.binTypes {
		room := &k.binTypes[s].capacity
		most = largestSoFar{max(most.cpu, room[0]), max(most.memory, room[1])}
		k.largest[s] = most
	}
}

// firstHolding is a bin type before which none holds the demand.
func (k *packer) firstHolding(d *vec.Vector) int32 {
	from, to := 0, len(k.largest)
	for from < to {
		if mid := (from + to) / 2; k.largest[mid].cpu < d[0] || k.largest[mid].memory < d[1] {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return int32(from)
}

// conflictsBetween says whether host ports or anti-affinity keep two nodes apart.
func (k *packer) conflictsBetween(a, b *pattern) bool {
	for q, i := range a.items {
		if k.exceedsConflicts(i, a.counts[q], b) {
			return true
		}
	}
	return false
}

// exceedsConflicts says whether n more pods of an item are too many for a node.
func (k *packer) exceedsConflicts(i, n int32, f *pattern) bool {
	mine := k.items[i].conflict
	if mine < 0 {
		return false
	}
	for q, j := range f.items {
		other := k.items[j].conflict
		if k.p.conflicts.Conflicts(mine, other) {
			return true
		}
		if mine == other {
			n += f.counts[q]
		}
	}
	return k.p.conflicts.Limit(mine, n) < n
}

// ruin takes some nodes apart and packs their pods again. It keeps the result
// if that costs less.
func (k *packer) ruin(nodes []packing, round int) ([]packing, bool) {
	if len(nodes) < 2 {
		return nodes, false
	}
	slices.SortStableFunc(nodes, func(a, b packing) int { return cmp.Compare(k.rateOf(a), k.rateOf(b)) })
	clear(k.left)
	before := 0.0
	var rest []packing
	for i, f := range nodes {
		// A window over the nodes, worst first, and now and then a wide comb.
		at := i - round/2*2
		if round%2 == 1 {
			at = (i - round/2) / 3
			if (i-round/2)%3 != 0 {
				at = -1
			}
		}
		if at < 0 || at >= ruinSize {
			rest = append(rest, f)
			continue
		}
		before += k.binTypes[f.binType].cost
		for q, r := range f.items {
			k.left[r] += f.counts[q]
		}
	}
	active := k.active
	k.active = nil
	again := k.greedy(1)
	k.active = active

	k.downsize(again)
	if k.totalCost(again) >= before*(1-1e-9) {
		return nodes, false
	}
	for _, f := range again {
		for range f.times {
			rest = append(rest, packing{f.pattern, 1})
		}
	}
	return rest, true
}
