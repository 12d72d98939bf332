package commit

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/problem"
)

// Attempt is a plan under construction, in one mode.
type Attempt struct {
	p *problem.Problem
	// Bounds is what may still be launched besides Nodes.
	Bounds  *Bounds
	Options Options
	mode
	// Left counts the pods of each class without a place. floor is the lowest
	// priority that is packed now.
	Left  []int32
	floor int32
	// Nodes are the new nodes so far.
	Nodes []*Node
	// failed is set when a bound stopped an attempt without strictOptions.
	failed bool
	// refused is set when a node of a packing was not what bounds allow, or not at the cost that
	// the packing assumed.
	refused bool
	// complete is set when every pod that fits some node has a place.
	complete bool
	// Done is the work of its packings.
	Done Work
}

// Work counts what the packings of an attempt did.
type Work struct {
	// Packings counts how often a set of items was packed. Passes and Pivots are the
	// numbers of these moves.
	Packings, Passes, Pivots int
	// Items and BinTypes are the largest numbers in one packing.
	Items, BinTypes int
}

// Options bound the nodes of a plan and the work of making it.
type Options struct {
	// Headroom limits what the new nodes may cost. Every entry must hold.
	Headroom []model.Headroom
	// Effort bounds the improvement of each packing, in moves.
	Effort int
	// Tolerance is the share above the best effective cost up to which offers are
	// options of a node. MaxOptions bounds the options of a node.
	Tolerance  float64
	MaxOptions int
	// Work counts the work of all plans of a solve.
	Work *effort.Work
}

// New returns an attempt without nodes, to which they are added one by one.
func New(p *problem.Problem, o Options, left []int32) *Attempt {
	return newAttempt(p, o, left, mode{})
}

// NewStrict is New for nodes whose options cost no more, and use no more of the limits,
// than the offer that they are added with.
func NewStrict(p *problem.Problem, o Options, left []int32) *Attempt {
	return newAttempt(p, o, left, mode{strictOptions: true})
}

// newAttempt returns an attempt without nodes in a mode. left counts the pods of each
// class to place.
func newAttempt(p *problem.Problem, o Options, left []int32, m mode) *Attempt {
	a := &Attempt{p: p, Bounds: NewBounds(p, o.Headroom), Options: o, mode: m, Left: slices.Clone(left)}
	for i := range p.Classes {
		a.floor = min(a.floor, p.Classes[i].Priority)
	}
	return a
}

// accept adds the node to the plan, to be launched as offer o or a similar one, if
// tiers, limits and headroom allow. cost is the cost of o that the packing assumed.
func (a *Attempt) accept(n *Node, o int32, cost float64) bool {
	n.Template = a.p.Supply.Offers[o].Template
	if n.Options == nil {
		listOptions(a, n, o)
	}
	if len(n.Options) == 0 || a.Bounds.Cost[n.Options[0]] > cost+1e-9 {
		a.refused = true
		return false // a tier is used up: other offers may be cheaper now
	}
	if !a.Bounds.reserve(a.p.Supply.Templates[n.Template].Pool, n.Options) {
		a.failed = !a.strictOptions
		return false
	}
	n.shares = a.Bounds.use(n.Options[0])
	return true
}

// Add adds the node to the plan, to be launched as offer o or a similar one, and
// reports whether the bounds allow it.
func (a *Attempt) Add(n *Node, o int32) bool {
	if !a.accept(n, o, a.Bounds.Cost[o]) {
		return false
	}
	a.Nodes = append(a.Nodes, n)
	return true
}

// pods returns how many pods the plan places on new nodes.
func (a *Attempt) pods() int32 {
	n := int32(0)
	for _, x := range a.Nodes {
		for _, t := range x.Placed {
			n += t.N
		}
	}
	return n
}

// run packs until nothing more can be placed.
func (a *Attempt) run() {
	if !a.byPriority {
		a.rounds()
		a.topUp()
		return
	}
	floors := make([]int32, 0, 4)
	for i := range a.p.Classes {
		floors = append(floors, a.p.Classes[i].Priority)
	}
	slices.SortFunc(floors, func(x, y int32) int { return cmp.Compare(y, x) })
	for _, floor := range slices.Compact(floors) {
		a.floor = floor
		if a.p.Supply.WeightRanks == 1 { // with several weights, the rounds must try the heavier pools first
			a.topUp()
		}
		a.rounds()
		a.topUp()
	}
}

// effortRounds is the number of rounds of an attempt that are improved. The first
// one gets nearly all of the effort; later ones pack what the bounds left over.
// 2 cost 0.02 %, 8 nothing (docs/measurements/solver.md).
const effortRounds = 4

// rounds packs what is left. When a round could not commit all of its nodes, because
// a tier, a limit or a headroom was used up, another round follows.
func (a *Attempt) rounds() {
	for round := 0; !a.failed; round++ {
		if !slices.ContainsFunc(a.Left, func(n int32) bool { return n > 0 }) {
			return
		}
		k := &Round{
			Problem: a.p, Dims: a.p.Supply.Dims.N(), merged: a.mergedRequest(round), Cost: slices.Clone(a.Bounds.Cost),
		}
		k.Items = a.p.Items(a.Left, a.floor, a.Bounds.Affordable(), k.merged)
		if len(k.Items.List) == 0 {
			return
		}
		moves := a.Options.Effort
		switch {
		case round >= effortRounds || a.greedy:
			moves = 0
		case round > 0 || a.strictOptions:
			moves = min(moves, 1+moves/10)
		}
		k.result = packing.Pack(k.Instance(a.Bounds.ByCost, a.podsPerNode, a.scarcity()), packing.Options{Effort: moves, Count: a.maxPods})
		a.count(k)
		if newNodeBuilder(a, k).commit() == 0 && (!k.Items.Merged || k.merged == problem.MaximumRequest) { // with mean requests a joined item may not fit one pod
			return
		}
	}
}

// scarcity returns what the use of bounds costs in this mode.
func (a *Attempt) scarcity() Scarcity {
	if a.boundPrice == 0 {
		return Scarcity{}
	}
	return Scarcity{Shares: a.Bounds.scarcity(), Price: a.boundPrice}
}

// mergedRequest returns what items request that join different requests: their mean
// in a first round, which others may follow.
func (a *Attempt) mergedRequest(round int) problem.MergedRequest {
	if round == 0 && !a.strictOptions {
		return problem.MeanRequest
	}
	return problem.MaximumRequest
}

// count adds a round's work to the attempt's statistics and to the solve's budget.
func (a *Attempt) count(k *Round) {
	s := k.result.Stats
	a.Options.Work.Pack(len(k.Items.List), s.Bins, s.Pivots)
	a.Done.Passes += s.Passes
	a.Done.Pivots += s.Pivots
	a.Done.Packings++
	a.Done.Items = max(a.Done.Items, len(k.Items.List))
	a.Done.BinTypes = max(a.Done.BinTypes, s.Bins)
}

// LeavesPlaceable reports whether a pod is left that some offer could hold if there
// were no bounds.
func (a *Attempt) LeavesPlaceable() bool {
	for c := range a.p.Classes {
		cl := &a.p.Classes[c]
		if a.Left[c] > 0 && len(cl.Reasons) == 0 && a.p.SomeFits(&cl.Requests, a.p.OffersOf(cl)) {
			return true
		}
	}
	return false
}

// better reports whether a leaves out fewer of the most urgent pods than b, or as
// many at lower cost.
func (a *Attempt) better(b *Attempt) bool {
	for c := 0; c < len(a.Left); {
		priority, x, y := a.p.Classes[c].Priority, int32(0), int32(0)
		for ; c < len(a.Left) && a.p.Classes[c].Priority == priority; c++ {
			x, y = x+a.Left[c], y+b.Left[c]
		}
		if x != y {
			return x < y
		}
	}
	return a.Effective()+a.FixedCost().USD() < b.Effective()+b.FixedCost().USD()
}
