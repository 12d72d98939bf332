package solver

import "spokeshave.dev/controller/core/solver/vec"

// maxFirstFit is up to how many pods first fit is tried; with more, it has
// never been the best.
const maxFirstFit = 300

// firstFit packs pods by decreasing size, each into the first node that has
// room for it on whatever bin type, and leaves it to downsize to choose the bin type.
// It is a poor packing in general, but hard to beat where a handful of pods
// with many constraints have to share. opened, if not nil, may narrow down what
// a node may be that has got its first pod.
func (k *packer) firstFit(opened func(*openNode)) []packing {
	var open []openNode
	for i := range k.items {
		for range k.items[i].n {
			placed := false
			for j := range open {
				if placed = k.joinFirst(&open[j], int32(i)); placed {
					break
				}
			}
			if !placed {
				open = append(open, openNode{pattern: &pattern{}, binTypes: k.allBinTypes()})
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
		open[j].binType = open[j].binTypes.Next(0)
		out[j] = packing{open[j].pattern, 1}
	}
	return out
}

// openNode is a node in the making and the bin types that it still may be.
type openNode struct {
	*pattern
	binTypes vec.Bits
	demand   vec.Vector
}

// oneTemplate leaves a node the bin types of the node template of the cheapest.
func (k *packer) oneTemplate(n *openNode) {
	lane := func(s int32) int32 { return k.p.offers[k.binTypes[s].offer].template }
	first := n.binTypes.Next(0)
	for s := first; s >= 0; s = n.binTypes.Next(s + 1) {
		if lane(s) != lane(first) {
			n.binTypes.Unset(s)
		}
	}
}

func (k *packer) allBinTypes() vec.Bits {
	set := vec.NewBits(len(k.binTypes))
	set.SetRange(0, int32(len(k.binTypes)))
	return set
}

// joinFirst adds one pod of an item to a node, if there is a bin type for both.
func (k *packer) joinFirst(n *openNode, i int32) bool {
	if k.exceedsConflicts(i, 1, n.pattern) {
		return false
	}
	demand := n.demand
	demand.Add(&k.items[i].request, 1)
	left := vec.NewBits(len(k.binTypes))
	for s := n.binTypes.Next(0); s >= 0; s = n.binTypes.Next(s + 1) {
		if k.binTypes[s].items.Has(i) && vec.Fits(&demand, &k.binTypes[s].capacity, k.n) {
			left.Set(s)
		}
	}
	if left.Empty() {
		return false
	}
	n.binTypes, n.demand = left, demand
	if last := len(n.items) - 1; last >= 0 && n.items[last] == i {
		n.counts[last]++
	} else {
		n.items, n.counts = append(n.items, i), append(n.counts, 1)
	}
	return true
}
