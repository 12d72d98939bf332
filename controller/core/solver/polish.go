package solver

import (
	"cmp"
	"slices"
)

// Bounds of the polishing, which looks at single nodes.
const (
	// maxPolished is how many nodes, the ones that pay least, are looked at.
	maxPolished = 160
	// ruins is how many groups of nodes are packed again.
	ruins = 24
	// patience is how many groups may bring nothing before polishing ends.
	patience = 6
	// ruinSize is how many nodes are packed again together.
	ruinSize = 5
)

// polish improves a packing node by node: it joins pairs that one node could
// hold for less, then takes apart the nodes that pay least, a few at a time,
// and packs their pods again.
func (k *packer) polish(list []packing, effort int) []packing {
	k.newReach()
	kept, nodes := k.singles(list)
	nodes = k.merge(nodes)
	for round, idle := 0, 0; round < min(ruins, effort) && idle < patience; round++ {
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
func (k *packer) rateOf(f packing) float64 { return k.worthOf(f.pattern) / k.sites[f.site].cost }

// single is one node, with what joining it to others depends on.
type single struct {
	packing
	demand vec
	rows   bitset
}

// merge joins pairs of nodes as long as one node costs less than the two.
func (k *packer) merge(nodes []packing) []packing {
	slices.SortStableFunc(nodes, func(a, b packing) int { return cmp.Compare(a.site, b.site) })
	each := make([]single, len(nodes))
	for i, f := range nodes {
		each[i] = single{packing: f, demand: k.demand(f.pattern), rows: newBitset(len(k.rows))}
		for _, r := range f.idx {
			each[i].rows.set(r)
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
	most := (k.sites[a.site].cost + k.sites[b.site].cost) * (1 - 1e-9)
	sum := a.demand
	sum.add(&b.demand, 1)
	for s := max(a.site, b.site, k.holding(&sum)); int(s) < len(k.sites) && k.sites[s].cost < most; s++ {
		t := &k.sites[s]
		if !fits(&sum, &t.room, k.n) || !t.rows.contains(a.rows) || !t.rows.contains(b.rows) {
			continue
		}
		if k.crowded(a.pattern, b.pattern) {
			return nil
		}
		f := &pattern{site: s, idx: slices.Concat(a.idx, b.idx), cnt: slices.Concat(a.cnt, b.cnt)}
		rows := a.rows.clone()
		rows.or(b.rows)
		return &single{packing: packing{f, 1}, demand: sum, rows: rows}
	}
	return nil
}

// reach is how much cpu and memory any site has up to one, in order of cost.
type reach struct{ cpu, memory int64 }

// newReach looks how large sites are.
func (k *packer) newReach() {
	k.reach = make([]reach, len(k.sites))
	var most reach
	for s := range k.sites {
		room := &k.sites[s].room
		most = reach{max(most.cpu, room[0]), max(most.memory, room[1])}
		k.reach[s] = most
	}
}

// holding is a site before which none holds the demand.
func (k *packer) holding(d *vec) int32 {
	from, to := 0, len(k.reach)
	for from < to {
		if mid := (from + to) / 2; k.reach[mid].cpu < d[0] || k.reach[mid].memory < d[1] {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return int32(from)
}

// crowded says whether host ports or anti-affinity keep two nodes apart.
func (k *packer) crowded(a, b *pattern) bool {
	for q, i := range a.idx {
		if k.crowds(i, a.cnt[q], b) {
			return true
		}
	}
	return false
}

// crowds says whether n more pods of a row are too many for a node.
func (k *packer) crowds(i, n int32, f *pattern) bool {
	mine := k.rows[i].apart
	if mine < 0 {
		return false
	}
	for q, j := range f.idx {
		other := k.rows[j].apart
		if k.p.apart.conflicts(mine, other) {
			return true
		}
		if mine == other {
			n += f.cnt[q]
		}
	}
	return k.p.apart.most(mine, n) < n
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
		before += k.sites[f.site].cost
		for q, r := range f.idx {
			k.left[r] += f.cnt[q]
		}
	}
	active := k.active
	k.active = nil
	again := k.greedy(1)
	k.active = active

	k.downsize(again)
	if k.total(again) >= before*(1-1e-9) {
		return nodes, false
	}
	for _, f := range again {
		for range f.times {
			rest = append(rest, packing{f.pattern, 1})
		}
	}
	return rest, true
}
