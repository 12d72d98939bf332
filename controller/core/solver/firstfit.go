package solver

// maxFirstFit is up to how many pods first fit is tried; with more, it has
// never been the best.
const maxFirstFit = 300

// firstFit packs pods by decreasing size, each into the first node that has
// room for it on whatever site, and leaves it to downsize to choose the site.
// It is a poor packing in general, but hard to beat where a handful of pods
// with many constraints have to share. opened, if not nil, may narrow down what
// a node may be that has got its first pod.
func (k *packer) firstFit(opened func(*openNode)) []packing {
	var open []openNode
	for i := range k.rows {
		for range k.rows[i].n {
			placed := false
			for j := range open {
				if placed = k.joinFirst(&open[j], int32(i)); placed {
					break
				}
			}
			if !placed {
				open = append(open, openNode{pattern: &pattern{}, sites: k.everySite()})
				last := &open[len(open)-1]
				if !k.joinFirst(last, int32(i)) {
					open = open[:len(open)-1]
				} else if opened != nil {
					opened(last)
				}
			}
		}
	}
	out := make([]packing, len(open))
	for j := range open {
		open[j].site = open[j].sites.next(0)
		out[j] = packing{open[j].pattern, 1}
	}
	return out
}

// openNode is a node in the making and the sites that it still may be.
type openNode struct {
	*pattern
	sites  bitset
	demand vec
}

// oneLane leaves a node the sites of the lane of the cheapest.
func (k *packer) oneLane(n *openNode) {
	lane := func(s int32) int32 { return k.p.offers[k.sites[s].offer].lane }
	first := n.sites.next(0)
	for s := first; s >= 0; s = n.sites.next(s + 1) {
		if lane(s) != lane(first) {
			n.sites.unset(s)
		}
	}
}

func (k *packer) everySite() bitset {
	set := newBitset(len(k.sites))
	set.setRange(0, int32(len(k.sites)))
	return set
}

// joinFirst adds one pod of a row to a node, if there is a site for both.
func (k *packer) joinFirst(n *openNode, i int32) bool {
	if k.crowds(i, 1, n.pattern) {
		return false
	}
	demand := n.demand
	demand.add(&k.rows[i].req, 1)
	left := newBitset(len(k.sites))
	for s := n.sites.next(0); s >= 0; s = n.sites.next(s + 1) {
		if k.sites[s].rows.has(i) && fits(&demand, &k.sites[s].room, k.n) {
			left.set(s)
		}
	}
	if left.empty() {
		return false
	}
	n.sites, n.demand = left, demand
	if last := len(n.idx) - 1; last >= 0 && n.idx[last] == i {
		n.cnt[last]++
	} else {
		n.idx, n.cnt = append(n.idx, i), append(n.cnt, 1)
	}
	return true
}
