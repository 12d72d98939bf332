package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// addForMinValues adds more expensive options to a node, the cheapest first, until
// the minValues of its pool are satisfied. At most most options are kept; an option
// that adds no value makes room for one that does. A node that cannot satisfy
// minValues loses all options, unless Settings.RelaxMinValues is set.
func (a *attempt) addForMinValues(n *planned, most int) {
	p, b := a.p, a.b
	wants := p.Supply.MinValues(n.template)
	if len(n.options) == 0 || p.Supply.UnmetMinValue(wants, n.options) == nil {
		return
	}
	kept := n.options[:1:1]
	add := func(list []int32) {
		for _, f := range list {
			if len(kept) < most && !slices.Contains(kept, f) && p.Supply.AddsValue(wants, kept, f) {
				kept = append(kept, f)
			}
		}
	}
	add(n.options)
	var others []int32
	for _, f := range b.byCost[n.template] {
		if n.set.Has(f) && b.affords(f) && vec.Fits(&n.demand, &p.Supply.Shapes[p.Supply.Offers[f].Shape].Capacity, p.Supply.Dims.N()) {
			others = append(others, f)
		}
	}
	add(others)
	if p.Supply.UnmetMinValue(wants, kept) != nil && !p.Snapshot.Settings.RelaxMinValues {
		n.options, n.costs = nil, nil
		return
	}
	for _, f := range n.options {
		if len(kept) < most && !slices.Contains(kept, f) {
			kept = append(kept, f)
		}
	}
	n.options = kept
	b.arrange(n)
}

// arrange sorts the options of a node and stores their costs.
func (b *budget) arrange(n *planned) {
	slices.SortFunc(n.options, func(x, y int32) int {
		if o := cmp.Compare(b.cost[x], b.cost[y]); o != 0 {
			return o
		}
		return b.p.Supply.CompareOffers(x, y)
	})
	n.costs = nil
	if b.tiered {
		for _, f := range n.options {
			n.costs = append(n.costs, b.cost[f])
		}
	}
}
