package solver

import "spokeshave.dev/controller/core/solver/packing"

// mode says how an attempt spends what is scarce.
type mode struct {
	// name identifies the mode in Trial.Modes.
	name string
	// strictOptions keeps the options of a node no dearer than the one chosen, so
	// that ceilings reserve no more than the plan needs.
	strictOptions bool
	// byPriority packs urgent pods before others are looked at.
	byPriority bool
	// scarcityPriced packs by the share of limits and headroom that nodes take, and
	// not by their effective cost.
	scarcityPriced bool
	// maxPods packs as many pods as there is room for, whatever is left for the others.
	maxPods bool
	// podsPerNode is how many pods a node is given, 0 for as many as fit.
	podsPerNode int32
}

// unbounded packs as if nothing were scarce.
func unbounded() mode { return mode{name: "unbounded"} }

// boundedModes are tried in this order where limits, headroom or reservations stop the
// unbounded mode, each with less freedom than the one before.
func boundedModes() []mode {
	return []mode{
		{name: "strict", strictOptions: true},
		{name: "strict, scarce", strictOptions: true, scarcityPriced: true},
		{name: "strict, by priority", strictOptions: true, byPriority: true},
		{name: "strict, by priority, scarce", strictOptions: true, byPriority: true, scarcityPriced: true},
		{name: "strict, scarce, most pods", strictOptions: true, scarcityPriced: true, maxPods: true},
		{name: "strict, by priority, scarce, most pods", strictOptions: true, byPriority: true, scarcityPriced: true, maxPods: true},
	}
}

// attempts makes plans of the same pods in one mode after the other.
type attempts struct {
	p     *problem
	left  []int32
	tried []ModeTrial
}

// bestAttempt makes the cheapest plan for what is left that places the most urgent
// pods: first as if nothing were scarce, and only where that fails with less
// and less freedom. It says which modes it tried, in order.
func (p *problem) bestAttempt(left []int32) (*attempt, []ModeTrial) {
	x := attempts{p: p, left: left}
	best, at := x.best()
	x.tried[at].Won = true
	return best, x.tried
}

// best is the best attempt, and the place of its mode among those tried.
func (x *attempts) best() (found *attempt, at int) {
	sparse := x.sparse()
	if sparse != nil && sparse.pods() > packing.MaxFirstFit {
		return sparse, 0
	}
	if a := x.try(unbounded()); a.complete {
		if sparse != nil && sparse.better(a) {
			return sparse, 0
		}
		return a, len(x.tried) - 1
	}
	for _, m := range boundedModes() {
		a := x.try(m)
		if a.complete || found == nil || a.better(found) {
			found, at = a, len(x.tried)-1
		}
		if a.complete {
			break
		}
	}
	return found, at
}

// sparse is a plan of nodes with few pods on each, for pods of which many mind
// others on their own node; nil where that does not matter or does not do.
func (x *attempts) sparse() *attempt {
	most := x.p.podsPerNodeCap()
	if most == 0 {
		return nil
	}
	if a := x.try(mode{name: "sparse", podsPerNode: most}); a.complete {
		return a
	}
	return nil
}

// try makes an attempt in a mode.
func (x *attempts) try(m mode) *attempt {
	before := x.p.in.budget.Moves()
	a := newAttempt(x.p, x.left, m)
	a.run()
	if m.strictOptions && a.leavesPlaceable() {
		a.enlarge()
	}
	a.complete = !a.failed && !a.leavesPlaceable()
	t := ModeTrial{Name: m.name, Moves: x.p.in.budget.Moves() - before, Cost: a.effective() + a.fixedCost().USD()}
	for c, n := range a.left {
		t.Unplaced += int(n * max(1, x.p.classes[c].bundleSize))
	}
	x.tried = append(x.tried, t)
	return a
}
