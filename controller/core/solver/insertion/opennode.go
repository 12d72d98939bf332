package insertion

import (
	"math"

	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// insertedNode is a new node under construction.
type insertedNode struct {
	node *commit.Node
	*topologyPosition
	partition int
	// offers are the offers that it may still be launched as: indexes in
	// offerPartition.byCost, from first on. Some of them may lack room for its pods; options of the
	// plan are checked for that. cheapest is the one at first.
	offers   vec.Bits
	first    int32
	cheapest int32
	// usable is what each of its pods may use; nil where that is not the same set.
	usable *offerSet
}

// pods returns how many pods the node has.
func (n *insertedNode) pods() int32 {
	sum := int32(0)
	for _, k := range n.node.Placed {
		sum += k.N
	}
	return sum
}

// open begins a new node of a partition and returns its number.
func (t *Insertion) open(partition int) int {
	from := &t.partitions[partition]
	t.nodes = append(t.nodes, insertedNode{node: &commit.Node{Template: from.template}, topologyPosition: &from.topologyPosition, partition: partition, cheapest: none})
	return len(t.nodes) - 1
}

// bestOpenNode returns the node under construction for a pod of a class, and what
// the pod adds to its cost; -1 when no node takes it.
func (t *Insertion) bestOpenNode(c int32, w *affinityTarget, answers []verdict, only int32) (best int, least float64) {
	best = -1
	cl, shut := &t.p.Classes[c], t.closed[c]
	for i := range t.nodes {
		n, at := &t.nodes[i], int32(len(t.hosts)+i)
		if shut.Has(at) || only != anyPlace && only != at || !t.verdicts.admits(answers, cl, n.topologyPosition) || !w.includes(n.topologyPosition) ||
			t.passOver != nil && t.passOver() {
			continue
		}
		switch o := t.offerFor(n, cl, w, t.dear(best, least)); {
		case o == none:
			if cl.NeedsOthersOnHost() == 0 && w.dependents == nil {
				shut.Set(at)
			}
		case o == tooDear:
		case !t.by.BestFit && !t.by.FewestFirst:
			return i, 0
		default:
			if add := t.added(n, o); best < 0 || add < least {
				best, least = i, add
			}
		}
	}
	return best, least
}

// dear returns from what added cost on a node does not matter, in USD/hour, when the best one so
// far adds the least.
func (t *Insertion) dear(best int, least float64) float64 {
	if best < 0 || !t.by.BestFit {
		return math.Inf(1)
	}
	return least
}

// added returns what one more pod on a node, launched as an offer, adds to the plan, as far as
// the strategy looks at it.
func (t *Insertion) added(n *insertedNode, o int32) float64 {
	if t.by.FewestFirst {
		return float64(n.pods())
	}
	return t.addedCost(n, o)
}

// addedCost returns what an offer costs more than the cheapest one of a node, in USD/hour.
func (t *Insertion) addedCost(n *insertedNode, o int32) float64 {
	return t.p.Supply.Offers[o].Cost - t.p.Supply.Offers[n.cheapest].Cost
}

// tooDear is the answer of offerFor when all offers that may have room add too much to the cost.
const tooDear = int32(-2)

// offerFor returns the cheapest offer for the pods of a node and one more of the class, if it
// adds less than dear to the cost, in USD/hour; none when there is no offer.
func (t *Insertion) offerFor(n *insertedNode, cl *problem.Class, w *affinityTarget, dear float64) int32 {
	usable := t.usable.of(cl.Choice, n.partition)
	if !usable.Intersects(n.offers) || n.node.Counts.Allows(cl.Terms, 1) == 0 || t.p.Ports.ConflictsWithAny(cl.Ports, n.node.Ports) {
		return none
	}
	demand := n.node.Demand
	demand.Add(&cl.Requests, 1)
	w.addDependents(&demand)
	x, list := &t.partitions[n.partition], usable.Bits
	if w.dependents == nil && n.usable == usable {
		list = t.candidates(n)
	}
	for i := list.NextOfBoth(n.offers, n.first); i >= 0; i = list.NextOfBoth(n.offers, i+1) {
		o := x.byCost[i]
		if t.addedCost(n, o) >= dear {
			return tooDear
		}
		if w.suits(t.p, o) && t.fits(&demand, o) && t.bounds.Affords(o, n.cheapest) {
			if !t.keepsMinValues(x, usable.Bits, n.offers, &demand) {
				return none
			}
			return o
		}
	}
	return none
}

// candidates returns offers that the pods of a node may use, among them the cheapest one with room for any
// demand. Where bounds hold they are all such offers, as bounds may exclude the cheapest one.
func (t *Insertion) candidates(n *insertedNode) vec.Bits {
	if n.usable == nil || t.bounds.Bound(t.partitions[n.partition].template) {
		return n.offers
	}
	return t.usable.candidates(n.usable, n.partition)
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

// addToNode adds a pod of a class to a node under construction.
func (t *Insertion) addToNode(at int, c int32) {
	cl, n := &t.p.Classes[c], &t.nodes[at]
	n.node.Join(cl, problem.ClassCount{Class: c, N: 1})
	x, usable, held := &t.partitions[n.partition], t.usable.of(cl.Choice, n.partition), n.cheapest
	switch {
	case n.offers == nil:
		n.offers, n.usable = usable.Clone(), usable
	case n.usable != usable:
		n.offers.And(usable.Bits)
		n.usable = nil
	}
	if t.bounds.Bound(x.template) {
		t.dropUnaffordable(n, x, held)
	}
	list := t.candidates(n)
	for n.first = list.Next(n.first); !t.fits(&n.node.Demand, x.byCost[n.first]); n.first = list.Next(n.first + 1) {
	}
	n.cheapest = x.byCost[n.first]
	t.bounds.Hold(n.cheapest, held)
	t.recordPlaced(c, n.topologyPosition, int32(len(t.hosts)+at))
}

// dropUnaffordable takes away the offers that bounds do not allow for a node which holds one of
// an offer.
func (t *Insertion) dropUnaffordable(n *insertedNode, x *offerPartition, held int32) {
	for i := n.offers.Next(n.first); i >= 0; i = n.offers.Next(i + 1) {
		if !t.bounds.Affords(x.byCost[i], held) {
			n.offers.Unset(i)
		}
	}
}
