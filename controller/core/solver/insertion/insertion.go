package insertion

import (
	"slices"

	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// insertedNode is a new node under construction.
type insertedNode struct {
	node *commit.Node
	*topologyPosition
	partition int
	// offers are the offers that it may still be launched as: indexes in
	// offerPartition.byCost. cheapest is the first of them, as an offer.
	offers   vec.Bits
	cheapest int32
}

// pods returns how many pods the node has.
func (n *insertedNode) pods() int32 {
	sum := int32(0)
	for _, k := range n.node.Placed {
		sum += k.N
	}
	return sum
}

// none stands for no offer, and for no index of one.
const none = int32(-1)

// Insertion places pods one at a time, large ones first, where all of their
// constraints hold at that moment: on existing nodes, then on new nodes under
// construction, then on another new node where that is cheapest. Unlike packing it
// knows which pods share a node when it chooses the domain. That gives better plans
// when few pods have many constraints.
//
// Size: one plan under construction, with what is looked up for every pod that is placed.
type Insertion struct {
	p       *problem.Problem
	by      Strategy
	Attempt *commit.Attempt
	// bounds is what limits and headroom leave besides the nodes under construction,
	// each as its cheapest offer.
	bounds        *commit.Holdings
	space         *domains.Space
	rules         *domainRules
	verdicts      *verdicts
	usable        *usableOffers
	firstOffers   *firstOffers
	hosts         []problem.Host
	hostPositions []topologyPosition // by host
	partitions    []offerPartition
	nodes         []insertedNode
	// closed is by class the hosts, and after them the nodes, without room for it.
	closed []vec.Bits
	// Unplaced counts by class the pods that were left out, for classes of which one
	// pod would have a place alone.
	Unplaced []int32
	// placesTried counts the places examined.
	placesTried int
	affinity    selfAffinity
	retries     *retries
	// wanting are the classes that earlier trials left out and that have affinity.
	wanting []int32
}

// Insert makes a plan pod by pod. It returns nil when there are more than
// maxPartitions kinds of place, or when bounds do not allow the nodes.
func Insert(p *problem.Problem, o commit.Options, hosts []problem.Host, by Strategy) *Insertion {
	p.SelectPackedRules()
	left := make([]int32, len(p.Classes))
	for i := range p.Classes {
		left[i] = int32(len(p.Classes[i].Pods))
	}
	groups := len(p.Topology.All)
	t := &Insertion{p: p, by: by, Attempt: commit.New(p, o, left), bounds: commit.NewHoldings(p, o.Headroom), space: domains.NewSpace(p, hosts), hosts: hosts}
	t.rules = newDomainRules(t.space, t.bounds.Affordable(), groups, by.DeferredSpread)
	parts := newPartitions(p, t.space, t.rules.counts, &t.by)
	if parts == nil {
		return nil
	}
	t.partitions = parts.list
	t.hostPositions = hostPositions(p, t.space, hosts)
	t.verdicts = newVerdicts(t.rules, len(p.Classes), t.hostPositions, t.partitions)
	t.usable = newUsableOffers(p, t.partitions)
	t.firstOffers = newFirstOffers(p, t.partitions, t.usable)
	t.closed = make([]vec.Bits, len(p.Classes))
	for c := range t.closed {
		t.closed[c] = vec.NewBits(len(hosts) + len(p.Pods))
	}
	t.affinity, t.retries, t.wanting = newSelfAffinity(groups, hosts), newRetries(p), by.wanting(p)
	placeable := placeableClasses(p, hosts)
	t.run()
	o.Work.Look(t.placesTried)
	if !t.rules.spreadsHold() || !t.accept() {
		return nil
	}
	t.Unplaced = make([]int32, len(p.Classes))
	for c := range p.Classes {
		if t.hasWaiting(int32(c)) && placeable[c] {
			t.Unplaced[c] = t.Attempt.Left[c]
		}
	}
	t.explain()
	return t
}

// run places pods until nothing more can be placed. It repeats because a pod may
// have affinity to a pod that is placed later.
func (t *Insertion) run() {
	order := t.by.order(t.p)
	for again := true; again; {
		again = false
		for _, c := range order {
			for t.hasWaiting(c) && t.try(c) {
				again = true
				t.retryFailed(order, c)
			}
		}
		again = again || t.by.Failures != nil && slices.ContainsFunc(order, func(c int32) bool { return t.hasWaiting(c) && t.placeSeed(c) })
	}
}

// hasWaiting reports whether a pod of the class waits for a place.
func (t *Insertion) hasWaiting(c int32) bool {
	return t.Attempt.Left[c] > 0 && len(t.p.Classes[c].Reasons) == 0
}

// place places one pod of a class: at one of its affinity targets, or anywhere. A
// pod that may be the first to satisfy its own host affinity waits for others,
// unless its class failed before.
func (t *Insertion) place(c int32) bool {
	cl := &t.p.Classes[c]
	begins := t.by.failedBefore(c) && t.affinity.mayBeFirst(cl)
	for _, w := range t.affinityTargets(cl) {
		w.seed = begins
		if t.placeAt(c, &w) {
			return true
		}
	}
	return t.placeAt(c, &affinityTarget{seed: begins})
}

// placeSeed places a pod that may be the first to satisfy its own host affinity.
func (t *Insertion) placeSeed(c int32) bool {
	return t.placeAt(c, &affinityTarget{seed: t.affinity.mayBeFirst(&t.p.Classes[c])})
}

// placeAt places one pod of a class within the target.
func (t *Insertion) placeAt(c int32, w *affinityTarget) bool {
	cl, shut := &t.p.Classes[c], t.closed[c]
	t.placesTried += len(t.hosts) + len(t.nodes)
	answers := t.verdicts.of(c, cl)
	only := t.affinity.onlyPlace(cl)
	for i := range t.hosts {
		if shut.Has(int32(i)) || only != anyPlace && only != int32(i) || !t.verdicts.admits(answers, cl, &t.hostPositions[i]) || !w.includes(&t.hostPositions[i]) || !w.fits(&t.hosts[i], cl, t.p.Supply.Dims.N()) {
			continue
		}
		if placeOnHost(t.p, &t.hosts[i], c, w) {
			t.recordPlaced(c, &t.hostPositions[i], int32(i))
			return true
		}
		if cl.NeedsOthersOnHost() == 0 { // otherwise a pod that satisfies its affinity may still be placed there
			shut.Set(int32(i))
		}
	}
	at, add := t.bestOpenNode(c, w, answers, only)
	x, cost := -1, 0.0
	if (at < 0 || t.by.BestFit) && t.worthNewNode(cl, w) {
		x, cost = t.cheapestPartition(c, w, answers, only)
	}
	switch {
	case at >= 0 && (x < 0 || add <= cost):
		t.addToNode(at, c)
	case x >= 0:
		from := &t.partitions[x]
		t.nodes = append(t.nodes, insertedNode{node: &commit.Node{Template: from.template}, topologyPosition: &from.topologyPosition, partition: x, cheapest: none})
		t.addToNode(len(t.nodes)-1, c)
	default:
		return false
	}
	return true
}

// recordPlaced records that a pod of the class was placed at position x.
func (t *Insertion) recordPlaced(c int32, x *topologyPosition, at int32) {
	t.Attempt.Left[c]--
	t.rules.addCounts(&t.p.Classes[c], x)
	t.affinity.record(&t.p.Classes[c], at)
	t.retries.placed(t.p.Classes[c].Terms)
}

// bestOpenNode returns the node under construction for a pod of a class, and what
// the pod adds to its cost; -1 when no node takes it.
func (t *Insertion) bestOpenNode(c int32, w *affinityTarget, answers []verdict, only int32) (best int, least float64) {
	best = -1
	cl, shut := &t.p.Classes[c], t.closed[c]
	for i := range t.nodes {
		n, at := &t.nodes[i], int32(len(t.hosts)+i)
		if shut.Has(at) || only != anyPlace && only != at || !t.verdicts.admits(answers, cl, n.topologyPosition) || !w.includes(n.topologyPosition) {
			continue
		}
		o := t.offerFor(n, cl, w)
		if o < 0 {
			if cl.NeedsOthersOnHost() == 0 && w.dependents == nil {
				shut.Set(at)
			}
			continue
		}
		add := 0.0
		switch {
		case t.by.FewestFirst:
			add = float64(n.pods())
		case t.by.BestFit:
			add = t.p.Supply.Offers[o].Cost - t.p.Supply.Offers[n.cheapest].Cost
		default:
			return i, 0
		}
		if best < 0 || add < least {
			best, least = i, add
		}
	}
	return best, least
}

// offerFor returns the cheapest offer for the pods of a node and one more of the
// class, -1 when there is none.
func (t *Insertion) offerFor(n *insertedNode, cl *problem.Class, w *affinityTarget) int32 {
	usable := t.usable.of(cl.Choice, n.partition)
	if !usable.Intersects(n.offers) || n.node.Counts.Allows(cl.Terms, 1) == 0 || t.p.Ports.ConflictsWithAny(cl.Ports, n.node.Ports) {
		return none
	}
	demand := n.node.Demand
	demand.Add(&cl.Requests, 1)
	w.addDependents(&demand)
	x := &t.partitions[n.partition]
	for i := usable.NextOfBoth(n.offers, 0); i >= 0; i = usable.NextOfBoth(n.offers, i+1) {
		if o := x.byCost[i]; w.suits(t.p, o) && t.fits(&demand, o) && t.bounds.Affords(o, n.cheapest) {
			if !t.keepsMinValues(x, usable, n.offers, &demand) {
				return none
			}
			return o
		}
	}
	return none
}

// fits reports whether a demand fits an offer.
func (t *Insertion) fits(demand *vec.Vector, o int32) bool {
	return vec.Fits(demand, t.p.Capacity(o), t.p.Supply.Dims.N())
}

// keepsMinValues reports whether the offers that are in both sets of indexes in x.byCost
// and have room for the demand leave the choice that the pool of the partition wants.
func (t *Insertion) keepsMinValues(x *offerPartition, usable, offers vec.Bits, demand *vec.Vector) bool {
	if !t.p.Supply.MinValuesStrict(x.template) {
		return true
	}
	var fit []int32
	for i := usable.NextOfBoth(offers, 0); i >= 0; i = usable.NextOfBoth(offers, i+1) {
		if o := x.byCost[i]; t.fits(demand, o) {
			fit = append(fit, o)
		}
	}
	return t.p.Supply.MinValues(x.template).Unmet(fit) == nil
}

// cheapestPartition returns the partition in which a new node for a pod of class c is
// cheapest, among those of the heaviest pools that have one; -1 for none. answers are the
// verdicts on the class, and only is the one place where it may go.
func (t *Insertion) cheapestPartition(c int32, w *affinityTarget, answers []verdict, only int32) (best int, least float64) {
	best = -1
	cl := &t.p.Classes[c]
	if cl.NeedsOthersOnHost() > 0 && !w.seed || only != anyPlace && only != int32(len(t.hosts)+len(t.nodes)) {
		return best, 0
	}
	level, demand := int32(0), cl.Requests
	w.addDependents(&demand)
	for i := range t.partitions {
		x := &t.partitions[i]
		rank := t.p.Supply.Templates[x.template].WeightRank
		if best >= 0 && rank > level {
			continue
		}
		at := t.firstOffers.of(c, i)
		if at < 0 || best >= 0 && rank == level && !t.preferred(x, &t.partitions[best], t.newNodeCost(x, at), least) ||
			!t.verdicts.admits(answers, cl, &x.topologyPosition) || !w.includes(&x.topologyPosition) {
			continue
		}
		usable := t.usable.of(cl.Choice, i)
		if at = t.affordable(x, at, usable, w, &demand); at < 0 || !t.keepsMinValues(x, usable, usable, &demand) {
			continue
		}
		cost := t.newNodeCost(x, at)
		if best < 0 || rank < level || t.preferred(x, &t.partitions[best], cost, least) {
			best, level, least = i, rank, cost
		}
	}
	return best, least
}

// newNodeCost returns what a node of the offer at an index of the partition costs in
// USD/hour: effective cost and Catalog.NodeCost.
func (t *Insertion) newNodeCost(x *offerPartition, at int32) float64 {
	return t.p.Supply.Offers[x.byCost[at]].Cost + t.p.Supply.FixedCost(x.template).USD()
}

// affordable returns the index in x.byCost of the first usable offer, from index at on,
// that the bounds allow for the demand of a pod and the target's dependents; -1 when there
// is none.
func (t *Insertion) affordable(x *offerPartition, at int32, usable vec.Bits, w *affinityTarget, demand *vec.Vector) int32 {
	for i := usable.Next(at); i >= 0; i = usable.Next(i + 1) {
		if o := x.byCost[i]; w.suits(t.p, o) && t.fits(demand, o) && t.bounds.Affords(o, none) {
			return i
		}
	}
	return none
}

// preferred reports whether a node in partition x, at a cost, is preferred to one in
// partition y of a pool of equal weight, at the cost least.
func (t *Insertion) preferred(x, y *offerPartition, cost, least float64) bool {
	if t.by.MostUseful && x.useful != y.useful {
		return x.useful > y.useful
	}
	return cost < least
}

// addToNode adds a pod of a class to a node under construction.
func (t *Insertion) addToNode(at int, c int32) {
	cl, n := &t.p.Classes[c], &t.nodes[at]
	n.node.Join(cl, problem.ClassCount{Class: c, N: 1})
	x, usable, held := &t.partitions[n.partition], t.usable.of(cl.Choice, n.partition), n.cheapest
	if n.offers == nil {
		n.offers = usable.Clone()
	} else {
		n.offers.And(usable)
	}
	for i := n.offers.Next(0); i >= 0; i = n.offers.Next(i + 1) {
		if o := x.byCost[i]; !t.fits(&n.node.Demand, o) || !t.bounds.Affords(o, held) {
			n.offers.Unset(i)
		}
	}
	n.cheapest = x.byCost[n.offers.Next(0)]
	t.bounds.Hold(n.cheapest, held)
	t.recordPlaced(c, n.topologyPosition, int32(len(t.hosts)+at))
}
