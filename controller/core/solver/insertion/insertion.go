package insertion

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

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
	bounds   *commit.Holdings
	space    *domains.Space
	rules    *domainRules
	verdicts *verdicts
	*places
	hosts []problem.Host
	nodes []insertedNode
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
	// steps are the placements, in their order.
	steps []step
	// passOver, where it is set, says that a pod is not to go to the next open node.
	passOver func() bool
}

// step is the placement of one pod of a class, at a host or, numbered after the hosts, a new
// node.
type step struct{ class, place int32 }

// Insert makes a plan pod by pod. It returns nil when there are more than
// maxPartitions kinds of place, or when bounds do not allow the nodes.
func Insert(p *problem.Problem, o commit.Options, hosts []problem.Host, by Strategy, shared *Places) *Insertion {
	t := prepare(p, o, hosts, by, shared)
	if t == nil {
		return nil
	}
	placeable := placeableClasses(p, hosts)
	t.run(by.order(p))
	return t.finish(placeable)
}

// prepare returns an Insertion that has placed no pod; nil when there are more than
// maxPartitions kinds of place.
func prepare(p *problem.Problem, o commit.Options, hosts []problem.Host, by Strategy, shared *Places) *Insertion {
	p.SelectPackedRules()
	left := make([]int32, len(p.Classes))
	for i := range p.Classes {
		left[i] = int32(len(p.Classes[i].Pods))
	}
	groups := len(p.Topology.All)
	t := &Insertion{p: p, by: by, Attempt: commit.New(p, o, left), bounds: commit.NewHoldings(p, o.Headroom), space: domains.NewSpace(p, hosts), hosts: hosts}
	t.rules = newDomainRules(t.space, t.bounds.Affordable(), groups, by.DeferredSpread)
	if t.places = shared.of(p, t.space, hosts, t.rules.counts, &t.by); t.places == nil {
		return nil
	}
	t.verdicts = newVerdicts(t.rules, len(p.Classes), t.positions)
	t.closed = make([]vec.Bits, len(p.Classes))
	for c := range t.closed {
		t.closed[c] = vec.NewBits(len(hosts) + len(p.Pods))
	}
	t.affinity, t.retries, t.wanting = newSelfAffinity(groups, hosts), newRetries(p), by.wanting(p)
	return t
}

// finish adds the nodes to the plan; nil when bounds do not allow them. placeable are the
// classes of which one pod has a place alone.
func (t *Insertion) finish(placeable []bool) *Insertion {
	t.Attempt.Options.Work.Look(t.placesTried)
	if !t.rules.spreadsHold() || !t.accept() {
		return nil
	}
	t.Unplaced = make([]int32, len(t.p.Classes))
	for c := range t.p.Classes {
		if t.hasWaiting(int32(c)) && placeable[c] {
			t.Unplaced[c] = t.Attempt.Left[c]
		}
	}
	t.explain()
	return t
}

// run places pods until nothing more can be placed. It repeats because a pod may
// have affinity to a pod that is placed later.
func (t *Insertion) run(order []int32) {
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
		t.addToNode(t.open(x), c)
	default:
		return false
	}
	return true
}

// recordPlaced records that a pod of the class was placed at position x.
func (t *Insertion) recordPlaced(c int32, x *topologyPosition, at int32) {
	t.Attempt.Left[c]--
	t.steps = append(t.steps, step{c, at})
	t.rules.addCounts(&t.p.Classes[c], x)
	t.affinity.record(&t.p.Classes[c], at)
	t.retries.placed(t.p.Classes[c].Terms)
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
	list := t.openings(c)
	for k := range list {
		o := &list[k]
		if best >= 0 && (o.rank > level || o.cost > least && !t.by.MostUseful) {
			break // what follows is lighter, or dearer
		}
		i, x := int(o.partition), &t.partitions[o.partition]
		if best >= 0 && !t.preferred(i, best, o.cost, least) ||
			!t.verdicts.admits(answers, cl, &x.topologyPosition) || !w.includes(&x.topologyPosition) {
			continue
		}
		usable := t.usable.of(cl.Choice, i).Bits
		at := t.affordable(x, o.at, usable, w, &demand)
		if at < 0 || !t.keepsMinValues(x, usable, usable, &demand) {
			continue
		}
		if cost := t.newNodeCost(x, at); best < 0 || t.preferred(i, best, cost, least) {
			best, level, least = i, o.rank, cost
		}
	}
	return best, least
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
func (t *Insertion) preferred(x, y int, cost, least float64) bool {
	if a, b := t.partitions[x].useful, t.partitions[y].useful; t.by.MostUseful && a != b {
		return a > b
	}
	return cmp.Or(cmp.Compare(cost, least), cmp.Compare(x, y)) < 0
}
