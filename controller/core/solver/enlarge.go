package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// A node's offer is chosen for the pods planned for it. When a limit allows no
// further node, other pods may still find a place if a planned node is launched as a
// larger offer.

// maxGrown is how many times an attempt makes a node larger, and maxTried how many
// times it examines whether it can.
const maxGrown, maxTried = 2000, 50_000

// enlarger makes planned nodes larger. tries counts how often it examined whether one
// can be.
type enlarger struct {
	a     *attempt
	tries int
}

// run places pods that are left on planned nodes and makes these larger if
// needed. Pods of the highest priority come first, and of these the smallest.
func (g *enlarger) run() {
	a, before := g.a, g.tries
	defer func() { a.options.work.Enlarge(g.tries - before) }()
	grown := 0
	for from := 0; from < len(a.p.Classes); {
		to := from
		for to < len(a.p.Classes) && a.p.Classes[to].Priority == a.p.Classes[from].Priority {
			to++
		}
		for c := int32(to - 1); c >= int32(from); c-- {
			for _, n := range a.nodes {
				for a.left[c] > 0 && grown < maxGrown && g.grow(n, c) {
					grown++
				}
			}
		}
		from = to
	}
}

// grow adds a pod of a class to a planned node, which is then launched as a larger
// offer. If pods fit without that, it adds as many as fit.
func (g *enlarger) grow(n *planned, c int32) bool {
	a := g.a
	cl := &a.p.Classes[c]
	if len(cl.Reasons) > 0 {
		return false
	}
	if fit := a.addToPlanned(n, c, a.left[c]); fit > 0 {
		a.left[c] -= fit
		return true
	}
	if n.counts.Allows(cl.Terms, 1) == 0 || a.p.Supply.MinValuesStrict(n.template) || a.p.Ports.ConflictsWithAny(cl.Ports, n.ports) || g.tries >= maxTried {
		return false
	}
	g.tries++
	set := n.set.Clone()
	set.And(a.p.OffersOf(cl))
	for _, t := range n.placed {
		set.And(a.p.OffersOf(&a.p.Classes[t.Class]))
	}
	demand := n.demand
	demand.Add(&cl.Requests, 1)
	pool, before := a.p.Supply.Templates[n.template].Pool, *n
	a.b.release(pool, n.options)
	if g.cheapest(n.template, set, &demand) < 0 { // checked first, since changing tiers is slow
		a.b.reserve(pool, n.options)
		return false
	}
	a.b.unuse(n.options[0], n.shares)
	if o := g.cheapest(n.template, set, &demand); o >= 0 {
		n.set, n.placed, n.ports, n.options, n.costs = set, slices.Clone(n.placed), slices.Clone(n.ports), nil, nil
		n.counts = a.p.CountsOf(n.placed)
		n.join(cl, problem.ClassCount{Class: c, N: 1})
		if a.accept(n, o, a.b.cost[o]) {
			a.left[c]--
			return true
		}
		*n = before
	}
	a.b.reuse(n.options[0], n.shares)
	a.b.reserve(pool, n.options)
	return false
}

// cheapest returns the cheapest offer of a node template in the set that has room
// for the demand and may be launched; -1 for none.
func (g *enlarger) cheapest(template int32, set vec.Bits, demand *vec.Vector) int32 {
	for _, o := range g.a.b.byCost[template] {
		if set.Has(o) && vec.Fits(demand, g.a.p.Capacity(o), g.a.p.Supply.Dims.N()) && g.a.b.affords(o) {
			return o
		}
	}
	return -1
}
