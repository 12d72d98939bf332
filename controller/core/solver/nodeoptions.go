package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// optionLister lists the offers that a node may be launched as.
type optionLister struct {
	a *attempt
	n *planned
	// most bounds the number of options.
	most int
}

// listOptions sets the offers that the node may be launched as, best first. o is the
// offer for which it was planned.
func listOptions(a *attempt, n *planned, o int32) {
	l := optionLister{a: a, n: n, most: a.options.maxOptions}
	l.addNearCheapest(o)
	l.addForMinValues()
}

// addNearCheapest adds the offers within the tolerance of the best.
func (l *optionLister) addNearCheapest(o int32) {
	a, n, p, b := l.a, l.n, l.a.p, l.a.b
	from := 0
	if !a.strictOptions { // nothing much cheaper fits, or it would have been chosen
		from = b.first(n.template, float64(b.cost[o]*(1-1e-4))-1e-6)
	}
	ceiling := 0.0
	for _, f := range b.byCost[n.template][from:] {
		if len(n.options) > 0 && (b.cost[f] > ceiling || len(n.options) == l.most) {
			return
		}
		if !n.set.Has(f) || a.strictOptions && !noLargerThan(p, f, o) || !b.affords(f) ||
			!vec.Fits(&n.demand, p.Capacity(f), p.Supply.Dims.N()) {
			continue
		}
		if len(n.options) == 0 {
			ceiling = b.cost[f] * (1 + a.options.tolerance)
		}
		n.options = append(n.options, f)
		if b.tiered {
			n.costs = append(n.costs, b.cost[f])
		}
	}
}

// noLargerThan reports whether offer f uses no more money and no more of the limits
// than offer o of the same node template.
func noLargerThan(p *problem.Problem, f, o int32) bool {
	if p.Supply.Offers[f].Price > p.Supply.Offers[o].Price {
		return false
	}
	x, y := p.Supply.Shapes[p.Supply.Offers[f].Shape].Usage, p.Supply.Shapes[p.Supply.Offers[o].Shape].Usage
	for i := range x {
		if x[i] > y[i] {
			return false
		}
	}
	return true
}

// addForMinValues adds more expensive options to a node, the cheapest first, until
// the minValues of its pool are satisfied. At most l.most options are kept; an option
// that adds no value makes room for one that does. A node that cannot satisfy
// minValues loses all options, unless Settings.RelaxMinValues is set.
func (l *optionLister) addForMinValues() {
	n, p, b := l.n, l.a.p, l.a.b
	wants := p.Supply.MinValues(n.template)
	if len(n.options) == 0 || p.Supply.UnmetMinValue(wants, n.options) == nil {
		return
	}
	kept := n.options[:1:1]
	add := func(list []int32) {
		for _, f := range list {
			if len(kept) < l.most && !slices.Contains(kept, f) && p.Supply.AddsValue(wants, kept, f) {
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
		if len(kept) < l.most && !slices.Contains(kept, f) {
			kept = append(kept, f)
		}
	}
	n.options = kept
	l.sort()
}

// sort sorts the options and stores their costs.
func (l *optionLister) sort() {
	n, b := l.n, l.a.b
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
