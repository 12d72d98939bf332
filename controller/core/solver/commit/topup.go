package commit

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// topUp places pods that are left in the free capacity of planned nodes.
func (a *Attempt) topUp() {
	for c := range a.p.Classes {
		cl := &a.p.Classes[c]
		if a.Left[c] == 0 || cl.Priority < a.floor || len(cl.Reasons) > 0 {
			continue
		}
		for _, n := range a.Nodes {
			a.Left[c] -= a.addToPlanned(n, int32(c), a.Left[c])
			if a.Left[c] == 0 {
				break
			}
		}
	}
}

// addToPlanned adds up to most pods of a class to a planned node and returns how
// many it added. It drops the node's options that are too small for them.
func (a *Attempt) addToPlanned(n *Node, c, most int32) int32 {
	cl := &a.p.Classes[c]
	if most = n.Counts.Allows(cl.Terms, most); most == 0 || a.p.Supply.MinValuesStrict(n.Template) || a.p.Ports.ConflictsWithAny(cl.Ports, n.Ports) {
		return 0
	}
	if cl.Ports >= 0 {
		most = min(most, 1)
	}
	best, allowed := n.Options[0], a.p.OffersOf(cl)
	may := func(o int32) bool { return allowed.Has(o) && (o == best || a.Bounds.ReservationLeft(o)) }
	fit := int32(0)
	for _, o := range n.Options {
		if !may(o) {
			continue
		}
		room := *a.p.Capacity(o)
		room.Add(&n.Demand, -1)
		if vec.Fits(&cl.Requests, &room, a.p.Supply.Dims.N()) {
			fit = max(fit, vec.MaxCopies(&cl.Requests, &room, most, a.p.Supply.Dims.N()))
		}
	}
	if fit == 0 {
		return 0
	}
	n.Join(cl, problem.ClassCount{Class: c, N: fit})
	options, costs := n.Options, n.Costs
	a.Bounds.release(a.p.Supply.Templates[n.Template].Pool, options)
	n.Options, n.Costs = make([]int32, 0, len(options)), nil
	for i, o := range options {
		if !may(o) || !vec.Fits(&n.Demand, a.p.Capacity(o), a.p.Supply.Dims.N()) {
			continue
		}
		n.Options = append(n.Options, o)
		if costs != nil {
			n.Costs = append(n.Costs, costs[i])
		}
	}
	a.Bounds.reserve(a.p.Supply.Templates[n.Template].Pool, n.Options) // cannot fail: the options need no more than before
	if n.Options[0] != best {
		a.exchange(n, best)
	}
	return fit
}

// exchange replaces the offer that a node counts as, which has become too small, by
// the best of the remaining options. Their tiers may have changed since, so that
// they are sorted again.
func (a *Attempt) exchange(n *Node, from int32) {
	a.Bounds.unuse(from, n.shares)
	if n.Costs != nil {
		slices.SortStableFunc(n.Options, func(x, y int32) int { return cmp.Compare(a.Bounds.Cost[x], a.Bounds.Cost[y]) })
		for i, o := range n.Options {
			n.Costs[i] = a.Bounds.Cost[o]
		}
	}
	n.shares = a.Bounds.use(n.Options[0])
}
