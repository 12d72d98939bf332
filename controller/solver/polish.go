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

// merge joins pairs of nodes as long as one node costs less than the two.
func (k *packer) merge(nodes []packing) []packing {
	slices.SortStableFunc(nodes, func(a, b packing) int { return cmp.Compare(a.site, b.site) })
	demands := make([]vec, len(nodes))
	members := make([]bitset, len(nodes))
	for i, f := range nodes {
		demands[i], members[i] = k.demand(f.pattern), k.members(f.pattern)
	}
	for i := 0; i < len(nodes); i++ {
		for j := 0; j < i; j++ {
			f := k.join(nodes[i], nodes[j], &demands[i], &demands[j], members[i], members[j])
			if f == nil {
				continue
			}
			nodes[i] = packing{f, 1}
			demands[i].add(&demands[j], 1)
			members[i] = members[i].clone()
			members[i].or(members[j])
			nodes = slices.Delete(nodes, j, j+1)
			demands = slices.Delete(demands, j, j+1)
			members = slices.Delete(members, j, j+1)
			i, j = i-1, -1
		}
	}
	return nodes
}

func (k *packer) members(f *pattern) bitset {
	set := newBitset(len(k.rows))
	for _, i := range f.idx {
		set.set(i)
	}
	return set
}

// join is the pattern of two nodes in one that costs less than both, nil if
// there is none.
func (k *packer) join(a, b packing, da, db *vec, ma, mb bitset) *pattern {
	most := (k.sites[a.site].cost + k.sites[b.site].cost) * (1 - 1e-9)
	sum := *da
	sum.add(db, 1)
	for s := max(a.site, b.site); int(s) < len(k.sites) && k.sites[s].cost < most; s++ {
		t := &k.sites[s]
		if !fits(&sum, &t.room, k.n) || !t.rows.contains(ma) || !t.rows.contains(mb) {
			continue
		}
		if k.crowded(a.pattern, b.pattern) {
			return nil
		}
		return &pattern{site: s, idx: slices.Concat(a.idx, b.idx), cnt: slices.Concat(a.cnt, b.cnt)}
	}
	return nil
}

// crowded says whether host ports keep two nodes apart.
func (k *packer) crowded(a, b *pattern) bool {
	for _, i := range a.idx {
		for _, j := range b.idx {
			if k.p.ports.conflicts(k.rows[i].ports, k.rows[j].ports) {
				return true
			}
		}
	}
	return false
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
	again := k.greedy(1)
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
