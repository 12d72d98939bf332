package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// Nodes are chosen for the pods that they are planned for. Where a limit allows no
// more of them, a larger one in the stead of a planned one is how others still find
// a place.

// maxGrown bounds how often an attempt makes a node larger, maxTried how often it
// looks whether it could.
const maxGrown, maxTried = 2000, 50_000

// enlarge places pods that are left on planned nodes, larger ones if need be: the
// most urgent first, of these the smallest.
func (a *attempt) enlarge() {
	before := a.growTries
	defer func() { a.p.in.budget.Enlarge(a.growTries - before) }()
	grown := 0
	for from := 0; from < len(a.p.classes); {
		to := from
		for to < len(a.p.classes) && a.p.classes[to].priority == a.p.classes[from].priority {
			to++
		}
		for c := int32(to - 1); c >= int32(from); c-- {
			for _, n := range a.nodes {
				for a.left[c] > 0 && grown < maxGrown && a.grow(n, c) {
					grown++
				}
			}
		}
		from = to
	}
}

// grow adds a pod of a class to a planned node that is launched as something larger
// then, or more of them if they fit as it is.
func (a *attempt) grow(n *planned, c int32) bool {
	cl := &a.p.classes[c]
	if len(cl.reasons) > 0 {
		return false
	}
	if fit := a.addToPlanned(n, c, a.left[c]); fit > 0 {
		a.left[c] -= fit
		return true
	}
	if n.counts.Allows(cl.terms, 1) == 0 || a.p.supply.MinValuesStrict(n.template) || a.p.ports.ConflictsWithAny(cl.ports, n.ports) || a.growTries >= maxTried {
		return false
	}
	a.growTries++
	set := n.set.Clone()
	set.And(a.p.choices.sets[cl.offers])
	for _, t := range n.placed {
		set.And(a.p.choices.sets[a.p.classes[t.class].offers])
	}
	demand := n.demand
	demand.Add(&cl.req, 1)
	pool, before := a.p.supply.Templates[n.template].Pool, *n
	a.b.release(pool, n.options)
	if a.cheapest(n.template, set, &demand) < 0 { // moving tiers takes long
		a.b.reserve(pool, n.options)
		return false
	}
	a.b.unuse(n.options[0], n.shares)
	if o := a.cheapest(n.template, set, &demand); o >= 0 {
		n.set, n.placed, n.ports, n.options, n.costs = set, slices.Clone(n.placed), slices.Clone(n.ports), nil, nil
		n.counts = a.p.countsOf(n.placed)
		n.join(cl, classCount{c, 1})
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

// cheapest is the cheapest offer of a node template in the set that has room for so much and
// may be launched; -1 for none.
func (a *attempt) cheapest(template int32, set vec.Bits, demand *vec.Vector) int32 {
	for _, o := range a.b.byCost[template] {
		if set.Has(o) && vec.Fits(demand, &a.p.supply.Shapes[a.p.supply.Offers[o].Shape].Capacity, a.p.supply.Dims.N()) && a.b.affords(o) {
			return o
		}
	}
	return -1
}
