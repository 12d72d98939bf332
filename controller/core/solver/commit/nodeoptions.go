package commit

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// optionLister lists the offers that a node may be launched as.
type optionLister struct {
	a *Attempt
	n *Node
	// most bounds the number of options.
	most int
}

// listOptions sets the offers that the node may be launched as, best first. o is the
// offer for which it was planned.
func listOptions(a *Attempt, n *Node, o int32) {
	l := optionLister{a: a, n: n, most: a.Options.MaxOptions}
	l.addNearCheapest(o)
	l.addForMinValues()
}

// addNearCheapest adds the offers within the tolerance of the best.
func (l *optionLister) addNearCheapest(o int32) {
	a, n, p, b := l.a, l.n, l.a.p, l.a.Bounds
	from := 0
	if !a.strictOptions { // nothing much cheaper fits, or it would have been chosen
		from = b.first(n.Template, float64(b.Cost[o]*(1-1e-4))-1e-6)
	}
	ceiling := 0.0
	for _, f := range b.ByCost[n.Template][from:] {
		if len(n.Options) > 0 && (b.Cost[f] > ceiling || len(n.Options) == l.most) {
			return
		}
		if !n.Set.Has(f) || a.strictOptions && !noLargerThan(p, f, o) || !b.affords(f) ||
			!vec.Fits(&n.Demand, p.Capacity(f), p.Supply.Dims.N()) {
			continue
		}
		if len(n.Options) == 0 {
			ceiling = b.Cost[f] * (1 + a.Options.Tolerance)
		}
		n.Options = append(n.Options, f)
		if b.Tiered {
			n.Costs = append(n.Costs, b.Cost[f])
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
	n, p, b := l.n, l.a.p, l.a.Bounds
	wants := p.Supply.MinValues(n.Template)
	if len(n.Options) == 0 || wants.Unmet(n.Options) == nil {
		return
	}
	kept := n.Options[:1:1]
	add := func(list []int32) {
		for _, f := range list {
			if len(kept) < l.most && !slices.Contains(kept, f) && wants.Adds(kept, f) {
				kept = append(kept, f)
			}
		}
	}
	add(n.Options)
	var others []int32
	for _, f := range b.ByCost[n.Template] {
		if n.Set.Has(f) && b.affords(f) && vec.Fits(&n.Demand, &p.Supply.Shapes[p.Supply.Offers[f].Shape].Capacity, p.Supply.Dims.N()) {
			others = append(others, f)
		}
	}
	add(others)
	if wants.Unmet(kept) != nil && !p.Snapshot.Settings.RelaxMinValues {
		n.Options, n.Costs = nil, nil
		return
	}
	for _, f := range n.Options {
		if len(kept) < l.most && !slices.Contains(kept, f) {
			kept = append(kept, f)
		}
	}
	n.Options = kept
	l.sort()
}

// sort sorts the options and stores their costs.
func (l *optionLister) sort() {
	n, b := l.n, l.a.Bounds
	slices.SortFunc(n.Options, func(x, y int32) int {
		if o := cmp.Compare(b.Cost[x], b.Cost[y]); o != 0 {
			return o
		}
		return b.p.Supply.CompareOffers(x, y)
	})
	n.Costs = nil
	if b.Tiered {
		for _, f := range n.Options {
			n.Costs = append(n.Costs, b.Cost[f])
		}
	}
}
