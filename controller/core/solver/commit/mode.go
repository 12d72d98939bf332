package commit

import (
	"math"

	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/parallel"
	"spokeshave.dev/controller/core/solver/problem"
)

// mode says how an attempt handles limits, headroom and reservations.
type mode struct {
	// name identifies the mode in Trial.Modes.
	name string
	// strictOptions keeps only options of a node that cost no more than the chosen
	// one, so that ceilings reserve no more than the plan needs.
	strictOptions bool
	// byPriority packs the pods of each priority before those of the next lower one.
	byPriority bool
	// boundPrice is what all that is left of a limit or a headroom costs, in USD/hour: nodes
	// cost that much more by the share of it that they use. Where it is infinite, only the
	// shares count.
	boundPrice float64
	// greedy packs without effort.
	greedy bool
	// maxPods packs as many pods as possible.
	maxPods bool
	// podsPerNode is the most pods that a node is given, 0 for no bound.
	podsPerNode int32
}

// ModeTrial is one attempt to plan the pods, in one mode. The modes share the
// assignment of pods to domains and existing nodes.
type ModeTrial struct {
	Name string
	// Moves is the work, in moves. Unplaced is how many pods are left out, before
	// EvictUnsatisfied removes others. Cost is what the new nodes cost in USD/hour:
	// effective cost and Catalog.NodeCost.
	Moves, Unplaced int
	Cost            float64
	// Won marks the attempt that is kept.
	Won bool
}

// unbounded returns the mode that packs as if there were no bounds.
func unbounded() mode { return mode{name: "unbounded"} }

// boundedModes returns the modes that are tried in this order when limits, headroom
// or reservations stop the unbounded mode. Each is more restrictive than the one
// before.
func boundedModes() []mode {
	all := math.Inf(1)
	return []mode{
		{name: "strict", strictOptions: true},
		{name: "strict, scarce", strictOptions: true, boundPrice: all},
		{name: "strict, by priority", strictOptions: true, byPriority: true},
		{name: "strict, by priority, scarce", strictOptions: true, byPriority: true, boundPrice: all},
		{name: "strict, scarce, most pods", strictOptions: true, boundPrice: all, maxPods: true},
		{name: "strict, by priority, scarce, most pods", strictOptions: true, byPriority: true, boundPrice: all, maxPods: true},
	}
}

// pricedModes returns the modes that are tried when an attempt without a price placed every pod,
// and bounds refused some of its nodes: those that came first have what there was, whatever the
// others would have saved by it. With a price on what is left, as in a Lagrangian relaxation, a
// node takes of it only where that saves more. The right price is not known: shares of cost, that of
// the attempt in USD/hour, are tried (ADR 101).
func pricedModes(cost float64) []mode {
	return []mode{
		{name: "priced low", boundPrice: 0.1 * cost},
		{name: "priced low, greedy", boundPrice: 0.1 * cost, greedy: true},
		{name: "priced high, greedy", boundPrice: 0.3 * cost, greedy: true},
		{name: "scarce", boundPrice: math.Inf(1)},
	}
}

// attempts makes plans of the same pods in several modes.
type attempts struct {
	p       *problem.Problem
	options Options
	left    []int32
	tried   []ModeTrial
}

// Best returns the cheapest plan that places the most urgent pods of left. It
// tries the unbounded mode first, the bounded modes only if that leaves pods
// without a place, and the priced modes if it does not and bounds refused nodes. It also
// returns the modes that it tried, in order.
func Best(p *problem.Problem, o Options, left []int32) (*Attempt, []ModeTrial) {
	x := attempts{p: p, options: o, left: left}
	best, at := x.best()
	x.tried[at].Won = true
	return best, x.tried
}

// best returns the best attempt, and the index of its mode among those tried.
func (x *attempts) best() (found *Attempt, at int) {
	sparse, whole := x.first()
	switch {
	case whole == nil:
		return x.priced(sparse)
	case whole.complete:
		found, at = x.priced(whole)
		if sparse != nil && sparse.better(found) {
			return sparse, 0
		}
		return found, at
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

// priced returns the best of the last attempt and, where bounds refused nodes of it, of those in
// the priced modes, and the index of its mode. Without effort there are none.
func (x *attempts) priced(last *Attempt) (best *Attempt, at int) {
	best, at = last, len(x.tried)-1
	if !last.refused || x.options.Effort == 0 {
		return best, at
	}
	for _, m := range pricedModes(x.tried[at].Cost) {
		m.podsPerNode = last.podsPerNode
		if a := x.try(m); a.complete && a.better(best) {
			best, at = a, len(x.tried)-1
		}
	}
	return best, at
}

// first returns a plan with few pods on each node, for pods of which many have
// rules on their own node, and one in the unbounded mode. The former is nil when there is no
// podsPerNodeCap or pods are left out, the latter where pods are too many for both. Both are
// made at the same time where they are needed in any case.
func (x *attempts) first() (sparse, whole *Attempt) {
	most := podsPerNodeCap(x.p)
	if most == 0 {
		return nil, x.try(unbounded())
	}
	n := int32(0)
	for _, left := range x.left {
		n += left
	}
	both := make([]made, 2)
	modes := []mode{{name: "sparse", podsPerNode: most}, unbounded()}
	if n > packing.MaxFirstFit {
		both[0].make(x, modes[0])
	} else {
		parallel.Each(len(both), func(i int) { both[i].make(x, modes[i]) })
	}
	if a := x.record(&both[0]); a.complete {
		sparse = a
	}
	switch {
	case both[1].attempt != nil:
		return sparse, x.record(&both[1])
	case sparse == nil || sparse.pods() <= packing.MaxFirstFit:
		return sparse, x.try(unbounded())
	}
	return sparse, nil
}

// try makes an attempt in a mode and records it.
func (x *attempts) try(m mode) *Attempt {
	var t made
	t.make(x, m)
	return x.record(&t)
}

// made is an attempt in a mode, with its work.
type made struct {
	attempt *Attempt
	trial   ModeTrial
	work    effort.Work
}

// make makes the attempt. It reads the attempts and does not change them.
func (t *made) make(x *attempts, m mode) {
	o := x.options
	o.Work = &t.work
	a := newAttempt(x.p, o, x.left, m)
	a.run()
	if m.strictOptions && a.LeavesPlaceable() {
		(&enlarger{a: a}).run()
	}
	a.complete = !a.failed && !a.LeavesPlaceable()
	t.attempt, t.trial = a, ModeTrial{Name: m.name, Moves: t.work.Moves(), Cost: a.Effective() + a.FixedCost().USD()}
	for c, n := range a.Left {
		t.trial.Unplaced += int(n * max(1, x.p.Classes[c].BundleSize))
	}
}

// record records an attempt that was made.
func (x *attempts) record(t *made) *Attempt {
	x.options.Work.Add(&t.work)
	t.attempt.Options.Work = x.options.Work
	x.tried = append(x.tried, t.trial)
	return t.attempt
}
