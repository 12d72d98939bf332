package commit

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
	a     *Attempt
	tries int
}

// run places pods that are left on planned nodes and makes these larger if
// needed. Pods of the highest priority come first, and of these the smallest.
func (g *enlarger) run() {
	a, before := g.a, g.tries
	defer func() { a.Options.Work.Enlarge(g.tries - before) }()
	grown := 0
	for from := 0; from < len(a.p.Classes); {
		to := from
		for to < len(a.p.Classes) && a.p.Classes[to].Priority == a.p.Classes[from].Priority {
			to++
		}
		for c := int32(to - 1); c >= int32(from); c-- {
			for _, n := range a.Nodes {
				for a.Left[c] > 0 && grown < maxGrown && g.grow(n, c) {
					grown++
				}
			}
		}
		from = to
	}
}

// grow adds a pod of a class to a planned node, which is then launched as a larger
// offer. If pods fit without that, it adds as many as fit.
func (g *enlarger) grow(n *Node, c int32) bool {
	a := g.a
	cl := &a.p.Classes[c]
	if len(cl.Reasons) > 0 {
		return false
	}
	if fit := a.addToPlanned(n, c, a.Left[c]); fit > 0 {
		a.Left[c] -= fit
		return true
	}
	if n.Counts.Allows(cl.Terms, 1) == 0 || a.p.Supply.MinValuesStrict(n.Template) || a.p.Ports.ConflictsWithAny(cl.Ports, n.Ports) || g.tries >= maxTried {
		return false
	}
	g.tries++
	set := a.allowed(n)
	set.And(a.p.OffersOf(cl))
	demand := n.Demand
	demand.Add(&cl.Requests, 1)
	pool, before := a.p.Supply.Templates[n.Template].Pool, *n
	a.Bounds.release(pool, n.Options)
	if g.cheapest(n.Template, set, &demand) < 0 { // checked first, since changing tiers is slow
		a.Bounds.reserve(pool, n.Options)
		return false
	}
	a.Bounds.unuse(n.Options[0], n.shares)
	if o := g.cheapest(n.Template, set, &demand); o >= 0 {
		n.Set, n.Placed, n.Ports, n.Options, n.Costs = set, slices.Clone(n.Placed), slices.Clone(n.Ports), nil, nil
		n.Counts = a.p.CountsOf(n.Placed)
		n.Join(cl, problem.ClassCount{Class: c, N: 1})
		if a.accept(n, o, a.Bounds.Cost[o]) {
			a.Left[c]--
			return true
		}
		*n = before
	}
	a.Bounds.reuse(n.Options[0], n.shares)
	a.Bounds.reserve(pool, n.Options)
	return false
}

// cheapest returns the cheapest offer of a node template in the set that has room
// for the demand and may be launched; -1 for none.
func (g *enlarger) cheapest(template int32, set vec.Bits, demand *vec.Vector) int32 {
	for _, o := range g.a.Bounds.ByCost[template] {
		if set.Has(o) && vec.Fits(demand, g.a.p.Capacity(o), g.a.p.Supply.Dims.N()) && g.a.Bounds.affords(o) {
			return o
		}
	}
	return -1
}
