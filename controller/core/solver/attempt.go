package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// attempt is a plan under construction, in one mode.
type attempt struct {
	p       *problem.Problem
	b       *budget
	options attemptOptions
	mode
	// left counts the pods of each class without a place. floor is the lowest
	// priority that is packed now.
	left  []int32
	floor int32
	nodes []*planned
	// failed is set when a bound stopped an attempt without strictOptions.
	failed bool
	// complete is set when every pod that fits some node has a place.
	complete bool
	done     work
}

// planned is a node to launch.
type planned struct {
	template int32
	placed   []problem.ClassCount
	demand   vec.Vector
	// set holds the offers that the constraints of all its pods allow.
	set   vec.Bits
	ports []int32
	// counts are the pods on the node by topology group.
	counts constraint.NodeCounts
	// options are offers, best first. costs are their effective costs, stored only
	// where tiers make them differ between nodes.
	options []int32
	costs   []float64
	// shares is what the node uses of the tiers' groups when launched as its first
	// option.
	shares []supply.Share
}

// work counts what the packings of an attempt did.
type work struct {
	// packings counts how often a set of items was packed. passes and pivots are the
	// numbers of these moves.
	packings, passes, pivots int
	// items and binTypes are the largest numbers in one packing.
	items, binTypes int
}

// attemptOptions bound the nodes of a plan and the work of making it.
type attemptOptions struct {
	// headroom limits what the new nodes may cost. Every entry must hold.
	headroom []model.Headroom
	// effort bounds the improvement of each packing, in moves.
	effort int
	// tolerance is the share above the best effective cost up to which offers are
	// options of a node. maxOptions bounds the options of a node.
	tolerance  float64
	maxOptions int
	// work counts the work of all plans of a solve.
	work *effort.Budget
}

func newAttempt(p *problem.Problem, o attemptOptions, left []int32, m mode) *attempt {
	a := &attempt{p: p, b: newBudget(p, o.headroom), options: o, mode: m, left: slices.Clone(left)}
	for i := range p.Classes {
		a.floor = min(a.floor, p.Classes[i].Priority)
	}
	return a
}

// accept adds the node to the plan, to be launched as offer o or a similar one, if
// tiers, limits and headroom allow. cost is the cost of o that the packing assumed.
func (a *attempt) accept(n *planned, o int32, cost float64) bool {
	n.template = a.p.Supply.Offers[o].Template
	if n.options == nil {
		listOptions(a, n, o)
	}
	if len(n.options) == 0 || a.b.cost[n.options[0]] > cost+1e-9 {
		return false // a tier is used up: other offers may be cheaper now
	}
	if !a.b.reserve(a.p.Supply.Templates[n.template].Pool, n.options) {
		a.failed = !a.strictOptions
		return false
	}
	n.shares = a.b.use(n.options[0])
	return true
}

// add adds the node to the plan, to be launched as offer o or a similar one, and
// reports whether the bounds allow it.
func (a *attempt) add(n *planned, o int32) bool {
	if !a.accept(n, o, a.b.cost[o]) {
		return false
	}
	a.nodes = append(a.nodes, n)
	return true
}

// pods returns how many pods the plan places on new nodes.
func (a *attempt) pods() int32 {
	n := int32(0)
	for _, x := range a.nodes {
		for _, t := range x.placed {
			n += t.N
		}
	}
	return n
}

// run packs until nothing more can be placed.
func (a *attempt) run() {
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
const effortRounds = 4

// rounds packs what is left. When a round could not commit all of its nodes, because
// a tier, a limit or a headroom was used up, another round follows.
func (a *attempt) rounds() {
	for round := 0; !a.failed; round++ {
		if !slices.ContainsFunc(a.left, func(n int32) bool { return n > 0 }) {
			return
		}
		k := &packingRound{
			p: a.p, n: a.p.Supply.Dims.N(), meanRequests: round == 0 && !a.strictOptions, cost: slices.Clone(a.b.cost),
		}
		k.items = a.p.Items(a.left, a.floor, a.b.affordable(), k.meanRequests)
		if len(k.items.List) == 0 {
			return
		}
		moves := a.options.effort
		switch {
		case round >= effortRounds:
			moves = 0
		case round > 0 || a.strictOptions:
			moves = min(moves, 1+moves/10)
		}
		var scarcity []float64
		if a.scarcityPriced {
			scarcity = a.b.scarcity()
		}
		k.result = packing.Pack(k.instance(a.b.byCost, a.podsPerNode, scarcity), packing.Options{Effort: moves, Count: a.maxPods})
		a.count(k)
		if newNodeBuilder(a, k).commit() == 0 && (!k.items.Merged || !k.meanRequests) { // with mean requests a joined item may not fit one pod
			return
		}
	}
}

// count adds a round's work to the attempt's statistics and to the solve's budget.
func (a *attempt) count(k *packingRound) {
	s := k.result.Stats
	a.options.work.Pack(len(k.items.List), s.Bins, s.Pivots)
	a.done.passes += s.Passes
	a.done.pivots += s.Pivots
	a.done.packings++
	a.done.items = max(a.done.items, len(k.items.List))
	a.done.binTypes = max(a.done.binTypes, s.Bins)
}

// leavesPlaceable reports whether a pod is left that some offer could hold if there
// were no bounds.
func (a *attempt) leavesPlaceable() bool {
	for c := range a.p.Classes {
		cl := &a.p.Classes[c]
		if a.left[c] > 0 && len(cl.Reasons) == 0 && a.p.SomeFits(&cl.Requests, a.p.OffersOf(cl)) {
			return true
		}
	}
	return false
}

// better reports whether a leaves out fewer of the most urgent pods than b, or as
// many at lower cost.
func (a *attempt) better(b *attempt) bool {
	for c := 0; c < len(a.left); {
		priority, x, y := a.p.Classes[c].Priority, int32(0), int32(0)
		for ; c < len(a.left) && a.p.Classes[c].Priority == priority; c++ {
			x, y = x+a.left[c], y+b.left[c]
		}
		if x != y {
			return x < y
		}
	}
	return a.effective()+a.fixedCost().USD() < b.effective()+b.fixedCost().USD()
}

// fixedCost returns what the plan's nodes cost besides their instances.
func (a *attempt) fixedCost() model.Price {
	var sum model.Price
	for _, n := range a.nodes {
		sum += a.p.Supply.FixedCost(n.template)
	}
	return sum
}

// effective returns the plan's effective cost in USD/hour.
func (a *attempt) effective() float64 {
	sum := 0.0
	for _, n := range a.nodes {
		sum += a.optionCost(n, 0)
	}
	return sum
}

// optionCost returns the effective cost of one of the node's options.
func (a *attempt) optionCost(n *planned, i int) float64 {
	if n.costs != nil {
		return n.costs[i]
	}
	return a.p.Supply.Offers[n.options[i]].Cost
}

func (a *attempt) billed() model.Price {
	var sum model.Price
	for _, n := range a.nodes {
		sum += a.p.Supply.Offers[n.options[0]].Price
	}
	return sum
}

// topUp places pods that are left in the free capacity of planned nodes.
func (a *attempt) topUp() {
	for c := range a.p.Classes {
		cl := &a.p.Classes[c]
		if a.left[c] == 0 || cl.Priority < a.floor || len(cl.Reasons) > 0 {
			continue
		}
		for _, n := range a.nodes {
			a.left[c] -= a.addToPlanned(n, int32(c), a.left[c])
			if a.left[c] == 0 {
				break
			}
		}
	}
}

// addToPlanned adds up to most pods of a class to a planned node and returns how
// many it added. It drops the node's options that are too small for them.
func (a *attempt) addToPlanned(n *planned, c, most int32) int32 {
	cl := &a.p.Classes[c]
	if most = n.counts.Allows(cl.Terms, most); most == 0 || a.p.Supply.MinValuesStrict(n.template) || a.p.Ports.ConflictsWithAny(cl.Ports, n.ports) {
		return 0
	}
	if cl.Ports >= 0 {
		most = min(most, 1)
	}
	best, allowed := n.options[0], a.p.OffersOf(cl)
	may := func(o int32) bool { return allowed.Has(o) && (o == best || a.b.reservationLeft(o)) }
	fit := int32(0)
	for _, o := range n.options {
		if !may(o) {
			continue
		}
		room := *a.p.Capacity(o)
		room.Add(&n.demand, -1)
		if vec.Fits(&cl.Requests, &room, a.p.Supply.Dims.N()) {
			fit = max(fit, vec.MaxCopies(&cl.Requests, &room, most, a.p.Supply.Dims.N()))
		}
	}
	if fit == 0 {
		return 0
	}
	n.join(cl, problem.ClassCount{Class: c, N: fit})
	options, costs := n.options, n.costs
	a.b.release(a.p.Supply.Templates[n.template].Pool, options)
	n.options, n.costs = make([]int32, 0, len(options)), nil
	for i, o := range options {
		if !may(o) || !vec.Fits(&n.demand, a.p.Capacity(o), a.p.Supply.Dims.N()) {
			continue
		}
		n.options = append(n.options, o)
		if costs != nil {
			n.costs = append(n.costs, costs[i])
		}
	}
	a.b.reserve(a.p.Supply.Templates[n.template].Pool, n.options) // cannot fail: the options need no more than before
	if n.options[0] != best {
		a.exchange(n, best)
	}
	return fit
}

// exchange replaces the offer that a node counts as, which has become too small, by
// the best of the remaining options. Their tiers may have changed since, so that
// they are sorted again.
func (a *attempt) exchange(n *planned, from int32) {
	a.b.unuse(from, n.shares)
	if n.costs != nil {
		slices.SortStableFunc(n.options, func(x, y int32) int { return cmp.Compare(a.b.cost[x], a.b.cost[y]) })
		for i, o := range n.options {
			n.costs[i] = a.b.cost[o]
		}
	}
	n.shares = a.b.use(n.options[0])
}
