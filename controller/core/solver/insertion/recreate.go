package insertion

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/draw"
	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

const (
	// mostRuined is how many new nodes a round takes away at most.
	mostRuined = 4
	// passedOver is one in how many nodes with room a pod does not get, although they may be
	// the cheapest.
	passedOver = 50
	// dearer is the share by which a plan may be dearer than the one before it, in the first
	// round; it falls to 0 in the last.
	dearer = 0.003
	// mostTried is how many places are examined before no more rounds are begun.
	mostTried = 200_000
)

// Recreate makes a plan cheaper by ruin and recreate (Schrimpf et al., 2000). In every round it
// takes a few new nodes away, at random, and places their pods again one by one, in a random
// order, where they add least to the cost. Now and then it keeps a pod off a node, so that the
// same order leads to different plans (Christiaens and Vanden Berghe, 2020). The next round
// goes on from a plan that leaves out no more pods and is hardly dearer. Pods on hosts, and new
// nodes with pods that have affinity on their own node, stay.
//
// The first plan is start, as far as the constraints hold while one pod is placed after
// another; pods for which they do not are inserted. New nodes are of NodePools with the weight of that of its
// first new node. The result is nil where that of Insert is.
func Recreate(p *problem.Problem, o commit.Options, hosts []problem.Host, start []Start, rounds int, random draw.Numbers) *Insertion {
	var own Places // what is remembered of them decides which random number is drawn for what
	t := prepare(p, o, hosts, Strategy{BestFit: true, Templates: sameWeight(p, start)}, &own)
	if t == nil {
		return nil
	}
	placeable := placeableClasses(p, hosts)
	r := &recreation{Insertion: t, random: random, counts: t.rules.counts.Clone(), groups: slices.Clone(t.affinity)}
	r.empty = r.state()
	r.begin(start)
	for i := 0; i < rounds && r.placesTried < mostTried; i++ {
		r.round(dearer * float64(rounds-1-i) / float64(rounds))
	}
	r.restore(&r.best, nil)
	return t.finish(placeable)
}

// sameWeight returns the node templates with the weight of that of the first new node.
func sameWeight(p *problem.Problem, start []Start) vec.Bits {
	set := vec.NewBits(len(p.Supply.Templates))
	at := slices.IndexFunc(start, func(s Start) bool { return s.Host < 0 })
	if at < 0 {
		return set
	}
	rank := p.Supply.Templates[p.Supply.Offers[start[at].Offer].Template].WeightRank
	for l := range p.Supply.Templates {
		if p.Supply.Templates[l].WeightRank == rank {
			set.Set(int32(l))
		}
	}
	return set
}

// recreation is a plan that is changed again and again.
type recreation struct {
	*Insertion

	random draw.Numbers
	// empty is the plan without any pod. current is the plan that the next round changes, best
	// the best one of which every placement was examined.
	empty, current, best state
	// counts and groups are the pods that stay where they are, by domain and on their nodes.
	counts *domains.Counts
	groups selfAffinity
}

// state is a plan. left counts the pods without a place by class, missing all of them. cost is
// in USD/hour.
type state struct {
	hosts   []problem.Host
	nodes   []insertedNode
	steps   []step
	left    []int32
	missing int32
	cost    float64
}

// betterThan reports whether a plan leaves out fewer pods than another, or as many at less than
// a multiple of its cost.
func (s *state) betterThan(other *state, multiple float64) bool {
	return cmp.Or(cmp.Compare(s.missing, other.missing), cmp.Compare(s.cost, other.cost*multiple)) < 0
}

// begin makes the first plan.
func (r *recreation) begin(start []Start) {
	r.repeat(r.fromStart(start))
	r.run(r.by.order(r.p))
	r.current = r.state()
	r.best = r.current
}

// round makes another plan. It goes on from it unless it is dearer by more than a share.
func (r *recreation) round(share float64) {
	gone := r.ruin()
	if gone == nil {
		return
	}
	r.restore(&r.current, gone)
	r.passOver = func() bool { return r.random.Below(passedOver) == 0 }
	r.run(r.randomOrder())
	r.passOver = nil
	next := r.state()
	if !next.betterThan(&r.current, 1+share+slack) {
		return
	}
	r.current = next
	if next.betterThan(&r.best, 1-slack) {
		r.examine(&next)
	}
}

// slack is the share by which sums of costs may differ because of the order of their terms.
const slack = 1e-9

// examine makes a plan from nothing, one placement after another, and keeps it as the best one
// if the constraints allow that. They may not: a round does not look again at the pods that it
// leaves where they are, and these may have needed one that is gone.
func (r *recreation) examine(s *state) {
	r.restore(&r.empty, nil)
	if r.repeat(r.fromState(s)) && r.rules.spreadsHold() {
		r.best = r.state()
	}
	r.current = r.best
}

// ruin draws the nodes that are taken away, by their number; nil when there are none.
func (r *recreation) ruin() []bool {
	var list []int
	for i := range r.current.nodes {
		if !slices.ContainsFunc(r.current.nodes[i].node.Placed, func(k problem.ClassCount) bool { return r.p.Classes[k.Class].NeedsOthersOnHost() > 0 }) {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return nil
	}
	gone := make([]bool, len(r.current.nodes))
	for range 1 + r.random.Below(min(mostRuined, len(list))) {
		gone[list[r.random.Below(len(list))]] = true
	}
	return gone
}

// randomOrder returns an order of the classes whose pods wait: the most urgent ones first, and
// of these the largest in the first resource or in all of them, or any.
func (r *recreation) randomOrder() []int32 {
	var order []int32
	for c := range r.p.Classes {
		if r.hasWaiting(int32(c)) {
			order = append(order, int32(c))
		}
	}
	classes := r.p.Classes
	switch r.random.Below(3) {
	case 0:
		draw.Shuffle(&r.random, order)
	case 1:
		slices.SortStableFunc(order, func(a, b int32) int {
			return cmp.Compare(r.p.Size(&classes[b].Requests), r.p.Size(&classes[a].Requests))
		})
	default:
		slices.SortStableFunc(order, func(a, b int32) int { return classes[b].Requests.Compare(&classes[a].Requests) })
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(classes[b].Priority, classes[a].Priority) })
	return order
}

// state copies the plan.
func (r *recreation) state() state {
	s := state{hosts: make([]problem.Host, len(r.hosts)), nodes: slices.Clone(r.nodes), steps: slices.Clone(r.steps), left: slices.Clone(r.Attempt.Left)}
	for i := range r.hosts {
		s.hosts[i] = r.hosts[i].Clone()
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		n.offers = n.offers.Clone()
		s.cost += r.p.Supply.Offers[n.cheapest].Cost + r.p.Supply.FixedCost(n.node.Template).USD()
	}
	for _, n := range s.left {
		s.missing += n
	}
	return s
}

// restore goes back to a plan, without the nodes that are gone, by number, and their pods.
func (r *recreation) restore(s *state, gone []bool) {
	r.forget()
	for i := range s.hosts {
		r.hosts[i] = s.hosts[i].Clone()
	}
	now := make([]int, len(s.nodes)) // by old number
	for i := range s.nodes {
		if gone != nil && gone[i] {
			now[i] = -1
			continue
		}
		now[i] = r.open(s.nodes[i].partition)
		n := &r.nodes[now[i]]
		n.offers, n.first, n.cheapest, n.usable = s.nodes[i].offers.Clone(), s.nodes[i].first, s.nodes[i].cheapest, s.nodes[i].usable
		r.bounds.Hold(n.cheapest, none)
	}
	for _, x := range s.steps {
		i := int(x.place) - len(r.hosts)
		if i < 0 {
			r.recordPlaced(x.class, &r.hostPositions[x.place], x.place)
			continue
		}
		if now[i] >= 0 {
			n := &r.nodes[now[i]]
			n.node.Join(&r.p.Classes[x.class], problem.ClassCount{Class: x.class, N: 1})
			r.recordPlaced(x.class, n.topologyPosition, int32(len(r.hosts)+now[i]))
		}
	}
}

// forget takes all placements back, except those on hosts.
func (r *recreation) forget() {
	for i := range r.nodes {
		r.bounds.Release(r.nodes[i].cheapest)
	}
	r.nodes, r.steps = r.nodes[:0], r.steps[:0]
	copy(r.Attempt.Left, r.empty.left)
	r.rules.reset(r.counts)
	copy(r.affinity, r.groups)
	clear(r.retries.failedAt)
	for c := range r.closed {
		clear(r.closed[c])
	}
}
