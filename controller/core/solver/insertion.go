package solver

import (
	"cmp"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/vec"
)

// insertedNode is a node in the making, with the offers that it still may be, the
// cheapest first.
type insertedNode struct {
	*planned
	*topologyPosition
	partition int
	offers    []int32
}

// insertionStrategy is a way of placing pods in turn.
type insertionStrategy struct {
	// bestFit puts a pod where that adds least to the cost, and not on the first
	// node that takes it.
	bestFit bool
	// unconstrainedFirst begins with the pods that have no constraints themselves, but
	// may be counted by those of others.
	unconstrainedFirst bool
	// bySize orders by all requests together, and not by the first of them.
	bySize bool
	// fixedZone opens a node in one zone and with one capacity type, even where it
	// matters to nobody, and lets pods break the spread of those before them for
	// a while: those that come later may make up for it.
	fixedZone bool
	// failures says by class how often its pods were left out before: those most
	// often come first, nil for nobody.
	failures []int32
	// affinityTargetsFirst lets those come first whom they want near, and not they themselves.
	affinityTargetsFirst bool
}

// insertion places pods one at a time, large ones first, where all of their
// constraints hold at that moment: on existing nodes, then on those in the
// making, then on a new one where that is cheapest. Unlike packing it knows
// who shares a node when it chooses the domain, which pays where few pods have
// many constraints.
type insertion struct {
	*problem
	insertionStrategy
	a             *attempt
	counts        *domainCounts
	hosts         []host
	hostPositions []topologyPosition // by host
	partitions    []offerPartition
	nodes         []insertedNode
	// groupKeys are the domains' numbers by topology group, -1 for local ones.
	groupKeys []int32
	// constraints are, by topology group, what pods with a place rely on.
	constraints [][]activeConstraint
	// closed are, by class, the hosts and then the nodes that have no room for it.
	closed []vec.Bits
	// placeable says by class whether its pods would have a place alone, unplaced how
	// many of those that would have none.
	placeable []bool
	unplaced  []int32
	// placesTried counts the places looked at.
	placesTried int
	// selfAffinity are, by topology group, the pods on single nodes that it counts.
	selfAffinity []selfAffinityState
}

// activeConstraint is a constraint of pods that have a place, and the domains where they are.
type activeConstraint struct {
	constraint.Rule
	domains []bool
}

// insertPods makes a plan pod by pod; nil when there are too many kinds of place, or
// when bounds get in the way.
func (p *problem) insertPods(hosts []host, by insertionStrategy) *insertion {
	p.newDomains(hosts)
	p.selectPackedRules()
	left := make([]int32, len(p.classes))
	for i := range p.classes {
		left[i] = int32(len(p.classes[i].pods))
	}
	t := &insertion{problem: p, insertionStrategy: by, a: newAttempt(p, left, mode{}), counts: p.newDomainCounts(hosts), hosts: hosts}
	for i := range p.topology.All {
		t.groupKeys = append(t.groupKeys, p.keyIndex(p.topology.All[i].Key))
	}
	if !t.newPartitions() {
		return nil
	}
	t.newHostPositions()
	t.constraints = make([][]activeConstraint, len(t.groupKeys))
	t.closed = make([]vec.Bits, len(p.classes))
	for c := range t.closed {
		t.closed[c] = vec.NewBits(len(hosts) + len(p.in.Pods))
	}
	t.newSelfAffinity()
	t.findPlaceable()
	t.run()
	p.in.budget.Look(t.placesTried)
	if !t.spreadsHold() || !t.accept() {
		return nil
	}
	t.recordUnplaced()
	t.explain()
	return t
}

// run places what can be placed, again and again: some want others near that
// come later.
func (t *insertion) run() {
	order := t.order()
	for again := true; again; {
		again = false
		for _, c := range order {
			for t.hasWaiting(c) && t.place(c) {
				again = true
				t.retryFailed(order, c)
			}
		}
		again = again || t.failures != nil && slices.ContainsFunc(order, func(c int32) bool { return t.hasWaiting(c) && t.placeSeed(c) })
	}
}

// hasWaiting says whether a pod of the class could be placed next.
func (t *insertion) hasWaiting(c int32) bool {
	return t.a.left[c] > 0 && len(t.classes[c].reasons) == 0
}

// failedBefore says whether pods of the class were left out before.
func (t *insertion) failedBefore(c int32) bool { return t.failures != nil && t.failures[c] > 0 }

// retryFailed tries again to place pods that were left out before, once a pod of class
// c has come that they may want near.
func (t *insertion) retryFailed(order []int32, c int32) {
	if t.failures == nil || t.exhausted() {
		return
	}
	for _, other := range order {
		for other != c && !t.exhausted() && t.failedBefore(other) && t.hasWaiting(other) && t.place(other) {
		}
	}
}

// exhausted says that so many places were looked at that the rest is placed plainly.
func (t *insertion) exhausted() bool { return t.placesTried > effort.LooksOnce }

// order is the order in which classes come.
func (t *insertion) order() []int32 {
	order := make([]int32, len(t.classes))
	for c := range order {
		order[c] = int32(c)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return t.classes[b].req.Compare(&t.classes[a].req) })
	if t.bySize {
		slices.SortStableFunc(order, func(a, b int32) int {
			return cmp.Compare(t.size(&t.classes[b].req), t.size(&t.classes[a].req))
		})
	}
	if t.unconstrainedFirst {
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(t.classes[a].hasRules(), t.classes[b].hasRules()) })
	}
	switch {
	case t.affinityTargetsFirst:
		wanted := make([]int, len(t.classes))
		for c := range wanted {
			wanted[c] = t.isAffinityTarget(int32(c))
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(wanted[b], wanted[a]) })
	case t.failures != nil:
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(t.failures[b], t.failures[a]) })
	}
	return order
}

// place finds a place for one pod of a class: where it is wanted, or anywhere. The
// first of a kind that wants its own kind on its node waits for others, unless it was
// left out before.
func (t *insertion) place(c int32) bool {
	cl := &t.classes[c]
	begins := t.failedBefore(c) && t.mayBeFirst(cl)
	for _, w := range t.affinityTargets(cl) {
		w.seed = begins
		if t.placeAt(c, &w) {
			return true
		}
	}
	return t.placeAt(c, &affinityTarget{seed: begins})
}

// placeSeed places a pod that may be the first of its kind.
func (t *insertion) placeSeed(c int32) bool {
	return t.placeAt(c, &affinityTarget{seed: t.mayBeFirst(&t.classes[c])})
}

// placeAt places one pod of a class where it is wanted.
func (t *insertion) placeAt(c int32, w *affinityTarget) bool {
	cl, shut := &t.classes[c], t.closed[c]
	t.placesTried += len(t.hosts) + len(t.nodes)
	for i := range t.hosts {
		if shut.Has(int32(i)) || !w.includes(&t.hostPositions[i]) || !t.hostFitsDependents(&t.hosts[i], cl, w) || !t.allows(cl, &t.hostPositions[i]) || t.breaksSeed(cl, int32(i)) {
			continue
		}
		if t.placeOnHostAt(&t.hosts[i], c, w) {
			t.recordPlaced(c, &t.hostPositions[i], int32(i))
			return true
		}
		if cl.needsOthersOnHost() == 0 { // else somebody may come whom it wants near
			shut.Set(int32(i))
		}
	}
	at, add := t.bestOpenNode(cl, shut, w)
	x, cost := -1, 0.0
	if (at < 0 || t.bestFit) && t.worthNewNode(cl, w) {
		x, cost = t.cheapestPartition(cl, w)
	}
	switch {
	case at >= 0 && (x < 0 || add <= cost):
		t.addToNode(at, c)
	case x >= 0:
		t.nodes = append(t.nodes, insertedNode{
			planned: &planned{template: t.partitions[x].template}, topologyPosition: &t.partitions[x].topologyPosition, partition: x, offers: t.partitions[x].byCost,
		})
		t.addToNode(len(t.nodes)-1, c)
	default:
		return false
	}
	return true
}

// recordPlaced notes that a pod of the class has a place.
func (t *insertion) recordPlaced(c int32, x *topologyPosition, at int32) {
	t.a.left[c]--
	t.addCounts(&t.classes[c], x)
	t.recordHostAffinity(&t.classes[c], at)
}

// bestOpenNode finds the node in the making for a pod of a class, and what that adds to
// its cost; -1 when none takes it.
func (t *insertion) bestOpenNode(cl *class, shut vec.Bits, w *affinityTarget) (best int, least float64) {
	best = -1
	for i := range t.nodes {
		n, at := &t.nodes[i], int32(len(t.hosts)+i)
		if shut.Has(at) || !w.includes(n.topologyPosition) || !t.allows(cl, n.topologyPosition) || t.breaksSeed(cl, at) {
			continue
		}
		o := t.offerFor(n, cl, w)
		if o < 0 {
			if cl.needsOthersOnHost() == 0 && w.dependents == nil {
				shut.Set(at)
			}
			continue
		}
		if !t.bestFit {
			return i, 0
		}
		if add := t.supply.Offers[o].Cost - t.supply.Offers[n.offers[0]].Cost; best < 0 || add < least {
			best, least = i, add
		}
	}
	return best, least
}

// offerFor is the cheapest offer for the pods of a node and one of the class, -1
// when it cannot take one.
func (t *insertion) offerFor(n *insertedNode, cl *class, w *affinityTarget) int32 {
	if n.counts.Allows(cl.terms, 1) == 0 || t.ports.ConflictsWithAny(cl.ports, n.ports) {
		return -1
	}
	demand := n.demand
	demand.Add(&cl.req, 1)
	w.addDependents(&demand)
	for _, o := range n.offers {
		if t.choices.sets[cl.offers].Has(o) && t.offerSuitsDependents(w, o) && vec.Fits(&demand, &t.supply.Shapes[t.supply.Offers[o].Shape].Capacity, t.supply.Dims.N()) {
			return o
		}
	}
	return -1
}

// cheapestPartition is the partition where a new node for a pod of the class is cheapest, among
// those of the heaviest pools that have one; -1 for none.
func (t *insertion) cheapestPartition(cl *class, w *affinityTarget) (best int, least float64) {
	best = -1
	if cl.needsOthersOnHost() > 0 && !w.seed || t.breaksSeed(cl, int32(len(t.hosts)+len(t.nodes))) {
		return best, 0
	}
	level, demand := int32(0), cl.req
	w.addDependents(&demand)
	for i := range t.partitions {
		x := &t.partitions[i]
		ln := &t.supply.Templates[x.template]
		if best >= 0 && ln.WeightRank > level || !w.includes(&x.topologyPosition) || !t.allows(cl, &x.topologyPosition) {
			continue
		}
		for _, o := range x.byCost {
			if t.choices.sets[cl.offers].Has(o) && t.offerSuitsDependents(w, o) && vec.Fits(&demand, &t.supply.Shapes[t.supply.Offers[o].Shape].Capacity, t.supply.Dims.N()) {
				cost := t.supply.Offers[o].Cost + t.supply.FixedCost(x.template).USD()
				if best < 0 || ln.WeightRank < level || cost < least {
					best, level, least = i, ln.WeightRank, cost
				}
				break
			}
		}
	}
	return best, least
}

// addToNode adds a pod of a class to a node in the making.
func (t *insertion) addToNode(at int, c int32) {
	cl, n := &t.classes[c], &t.nodes[at]
	n.join(cl, classCount{c, 1})
	var left []int32
	for _, o := range n.offers {
		if t.choices.sets[cl.offers].Has(o) && vec.Fits(&n.demand, &t.supply.Shapes[t.supply.Offers[o].Shape].Capacity, t.supply.Dims.N()) {
			left = append(left, o)
		}
	}
	n.offers = left
	t.recordPlaced(c, n.topologyPosition, int32(len(t.hosts)+at))
}

// hasRules is 1 for pods with constraints on others, 0 for the rest.
func (c *class) hasRules() int {
	if c.terms != nil && len(c.terms.DomainRules)+len(c.terms.HostRules) > 0 {
		return 1
	}
	return 0
}

// accept takes the nodes into the plan and says whether bounds let it.
func (t *insertion) accept() bool {
	for i := range t.nodes {
		n := &t.nodes[i]
		n.set = vec.NewBits(len(t.supply.Offers))
		for _, o := range n.offers {
			n.set.Set(o)
		}
		n.placed = mergeCounts(n.placed)
		if !t.a.accept(n.planned, n.offers[0], t.a.b.cost[n.offers[0]]) {
			return false
		}
		t.a.nodes = append(t.a.nodes, n.planned)
	}
	for i := range t.hosts {
		t.hosts[i].placed = mergeCounts(t.hosts[i].placed)
	}
	return true
}

// mergeCounts adds up what was taken of each class.
func mergeCounts(takes []classCount) []classCount {
	slices.SortStableFunc(takes, func(a, b classCount) int { return cmp.Compare(a.class, b.class) })
	out := takes[:0]
	for _, t := range takes {
		if last := len(out) - 1; last >= 0 && out[last].class == t.class {
			out[last].n += t.n
		} else {
			out = append(out, t)
		}
	}
	return out
}

// explain gives the classes with pods left their reasons, where constraints
// between pods stopped them.
func (t *insertion) explain() {
	for c := range t.classes {
		cl := &t.classes[c]
		if t.a.left[c] == 0 || len(cl.reasons) > 0 {
			continue
		}
		for k := range t.domains {
			h := domainAssigner{problem: t.problem, key: int32(k), domains: &t.domains[k], hosts: t.hosts, counts: t.counts}
			if h.addDemand(int32(c)); len(h.demands) == 0 || countTrue(h.demands[0].feasible) == 0 {
				continue
			}
			if r := h.unassignedReason(&h.demands[0]); len(cl.reasons) == 0 || !strings.HasPrefix(r.Message, "no domain") {
				cl.reasons = []model.Reason{r}
			}
		}
	}
	t.rejectUnmetAffinity(t.a.left)
}
