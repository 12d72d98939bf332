package solver

import (
	"cmp"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// opened is a node in the making, with the offers that it still may be, the
// cheapest first.
type opened struct {
	*planned
	*spot
	cell   int
	offers []int32
}

// turning is a way of placing pods in turn.
type turning struct {
	// thrifty puts a pod where that adds least to the cost, and not on the first
	// node that takes it.
	thrifty bool
	// countedFirst begins with the pods that have no constraints themselves, but
	// may be counted by those of others.
	countedFirst bool
	// bySize orders by all requests together, and not by the first of them.
	bySize bool
	// plainly opens a node in one zone and with one capacity type, even where it
	// matters to nobody, and lets pods break the spread of those before them for
	// a while: those that come later may make up for it.
	plainly bool
	// spurned says by class how often its pods were left out before: those most
	// often come first, nil for nobody.
	spurned []int32
	// friendly lets those come first whom they want near, and not they themselves.
	friendly bool
}

// turnings are the ways that are tried.
func turnings() []turning {
	return []turning{
		{},
		{thrifty: true},
		{bySize: true},
		{bySize: true, thrifty: true},
		{countedFirst: true},
		{countedFirst: true, thrifty: true},
		{plainly: true},
	}
}

// turns places pods one at a time, large ones first, where all of their
// constraints hold at that moment: on existing nodes, then on those in the
// making, then on a new one where that is cheapest. Unlike packing it knows
// who shares a node when it chooses the domain, which pays where few pods have
// many constraints.
type turns struct {
	*problem
	turning
	a     *attempt
	l     *ledger
	hosts []host
	spots []spot // by host
	cells []cell
	nodes []opened
	// keys are the domains' numbers by census, -1 for local ones.
	keys []int32
	// pledges are, by census, what pods with a place rely on.
	pledges [][]pledge
	// shut are, by class, the hosts and then the nodes that have no room for it.
	shut []bitset
	// possible says by class whether its pods would have a place alone, left how
	// many of those that would have none.
	possible []bool
	left     []int32
	// looks counts the places looked at.
	looks int
	// circles are, by census, the pods on single nodes that it counts.
	circles []circle
}

// pledge is a constraint of pods that have a place, and the domains where they are.
type pledge struct {
	rule
	at []bool
}

// inTurn makes a plan pod by pod; nil when there are too many kinds of place, or
// when bounds get in the way.
func (p *problem) inTurn(hosts []host, by turning) *turns {
	p.newDomains(hosts)
	p.harden()
	left := make([]int32, len(p.classes))
	for i := range p.classes {
		left[i] = int32(len(p.classes[i].pods))
	}
	t := &turns{problem: p, turning: by, a: newAttempt(p, left, mode{}), l: p.newLedger(hosts), hosts: hosts}
	for i := range p.topo.censuses {
		t.keys = append(t.keys, p.keyOf(p.topo.censuses[i].key))
	}
	if !t.newCells() {
		return nil
	}
	t.newSpots()
	t.pledges = make([][]pledge, len(t.keys))
	t.shut = make([]bitset, len(p.classes))
	for c := range t.shut {
		t.shut[c] = newBitset(len(hosts) + len(p.in.Pods))
	}
	t.newCircles()
	t.newPossible()
	t.run()
	p.in.meter.look(t.looks)
	if !t.kept() || !t.accept() {
		return nil
	}
	t.forsake()
	t.explain()
	return t
}

// run places what can be placed, again and again: some want others near that
// come later.
func (t *turns) run() {
	order := t.order()
	for again := true; again; {
		again = false
		for _, c := range order {
			for t.waits(c) && t.place(c) {
				again = true
				t.recall(order, c)
			}
		}
		again = again || t.spurned != nil && slices.ContainsFunc(order, func(c int32) bool { return t.waits(c) && t.begin(c) })
	}
}

// waits says whether a pod of the class could be placed next.
func (t *turns) waits(c int32) bool { return t.a.left[c] > 0 && len(t.classes[c].reasons) == 0 }

// spurnedOnce says whether pods of the class were left out before.
func (t *turns) spurnedOnce(c int32) bool { return t.spurned != nil && t.spurned[c] > 0 }

// recall tries again to place pods that were left out before, once a pod of class
// c has come that they may want near.
func (t *turns) recall(order []int32, c int32) {
	if t.spurned == nil || t.tired() {
		return
	}
	for _, other := range order {
		for other != c && !t.tired() && t.spurnedOnce(other) && t.waits(other) && t.place(other) {
		}
	}
}

// tired says that so many places were looked at that the rest is placed plainly.
func (t *turns) tired() bool { return t.looks > maxLooks }

// order is the order in which classes come.
func (t *turns) order() []int32 {
	order := make([]int32, len(t.classes))
	for c := range order {
		order[c] = int32(c)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return t.classes[b].req.compare(&t.classes[a].req) })
	if t.bySize {
		slices.SortStableFunc(order, func(a, b int32) int {
			return cmp.Compare(t.size(&t.classes[b].req), t.size(&t.classes[a].req))
		})
	}
	if t.countedFirst {
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(t.classes[a].minds(), t.classes[b].minds()) })
	}
	switch {
	case t.friendly:
		wanted := make([]int, len(t.classes))
		for c := range wanted {
			wanted[c] = t.befriended(int32(c))
		}
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(wanted[b], wanted[a]) })
	case t.spurned != nil:
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(t.spurned[b], t.spurned[a]) })
	}
	return order
}

// place finds a place for one pod of a class: where it is wanted, or anywhere. The
// first of a kind that wants its own kind on its node waits for others, unless it was
// left out before.
func (t *turns) place(c int32) bool {
	cl := &t.classes[c]
	begins := t.spurnedOnce(c) && t.begins(cl)
	for _, w := range t.lured(cl) {
		w.begins = begins
		if t.put(c, &w) {
			return true
		}
	}
	return t.put(c, &lure{begins: begins})
}

// begin places a pod that may be the first of its kind.
func (t *turns) begin(c int32) bool { return t.put(c, &lure{begins: t.begins(&t.classes[c])}) }

// put places one pod of a class where it is wanted.
func (t *turns) put(c int32, w *lure) bool {
	cl, shut := &t.classes[c], t.shut[c]
	t.looks += len(t.hosts) + len(t.nodes)
	for i := range t.hosts {
		if shut.has(int32(i)) || !w.at(&t.spots[i]) || !t.roomy(&t.hosts[i], cl, w) || !t.allows(cl, &t.spots[i]) || t.strays(cl, int32(i)) {
			continue
		}
		if t.house(&t.hosts[i], c, w) {
			t.seat(c, &t.spots[i], int32(i))
			return true
		}
		if cl.follows() == 0 { // else somebody may come whom it wants near
			shut.set(int32(i))
		}
	}
	at, add := t.join(cl, shut, w)
	x, cost := -1, 0.0
	if (at < 0 || t.thrifty) && t.pays(cl, w) {
		x, cost = t.cheapest(cl, w)
	}
	switch {
	case at >= 0 && (x < 0 || add <= cost):
		t.enter(at, c)
	case x >= 0:
		t.nodes = append(t.nodes, opened{
			planned: &planned{lane: t.cells[x].lane}, spot: &t.cells[x].spot, cell: x, offers: t.cells[x].offers,
		})
		t.enter(len(t.nodes)-1, c)
	default:
		return false
	}
	return true
}

// seat notes that a pod of the class has a place.
func (t *turns) seat(c int32, x *spot, at int32) {
	t.a.left[c]--
	t.count(&t.classes[c], x)
	t.meet(&t.classes[c], at)
}

// join finds the node in the making for a pod of a class, and what that adds to
// its cost; -1 when none takes it.
func (t *turns) join(cl *class, shut bitset, w *lure) (best int, least float64) {
	best = -1
	for i := range t.nodes {
		n, at := &t.nodes[i], int32(len(t.hosts)+i)
		if shut.has(at) || !w.at(n.spot) || !t.allows(cl, n.spot) || t.strays(cl, at) {
			continue
		}
		o := t.offerFor(n, cl, w)
		if o < 0 {
			if cl.follows() == 0 && w.guest == nil {
				shut.set(at)
			}
			continue
		}
		if !t.thrifty {
			return i, 0
		}
		if add := t.offers[o].cost - t.offers[n.offers[0]].cost; best < 0 || add < least {
			best, least = i, add
		}
	}
	return best, least
}

// offerFor is the cheapest offer for the pods of a node and one of the class, -1
// when it cannot take one.
func (t *turns) offerFor(n *opened, cl *class, w *lure) int32 {
	if n.with.allows(cl.ties, 1) == 0 || t.ports.blocked(cl.ports, n.ports) {
		return -1
	}
	demand := n.demand
	demand.add(&cl.req, 1)
	w.extend(&demand)
	for _, o := range n.offers {
		if t.choices.sets[cl.offers].has(o) && t.suitsGuest(w, o) && fits(&demand, &t.bins[t.offers[o].bin].room, t.dims.n()) {
			return o
		}
	}
	return -1
}

// cheapest is the cell where a new node for a pod of the class is cheapest, among
// those of the heaviest pools that have one; -1 for none.
func (t *turns) cheapest(cl *class, w *lure) (best int, least float64) {
	best = -1
	if cl.follows() > 0 && !w.begins || t.strays(cl, int32(len(t.hosts)+len(t.nodes))) {
		return best, 0
	}
	level, demand := int32(0), cl.req
	w.extend(&demand)
	for i := range t.cells {
		x := &t.cells[i]
		ln := &t.lanes[x.lane]
		if best >= 0 && ln.level > level || !w.at(&x.spot) || !t.allows(cl, &x.spot) {
			continue
		}
		for _, o := range x.offers {
			if t.choices.sets[cl.offers].has(o) && t.suitsGuest(w, o) && fits(&demand, &t.bins[t.offers[o].bin].room, t.dims.n()) {
				cost := t.offers[o].cost + t.fixed(x.lane).USD()
				if best < 0 || ln.level < level || cost < least {
					best, level, least = i, ln.level, cost
				}
				break
			}
		}
	}
	return best, least
}

// enter adds a pod of a class to a node in the making.
func (t *turns) enter(at int, c int32) {
	cl, n := &t.classes[c], &t.nodes[at]
	n.join(cl, take{c, 1})
	var left []int32
	for _, o := range n.offers {
		if t.choices.sets[cl.offers].has(o) && fits(&n.demand, &t.bins[t.offers[o].bin].room, t.dims.n()) {
			left = append(left, o)
		}
	}
	n.offers = left
	t.seat(c, n.spot, int32(len(t.hosts)+at))
}

// minds is 1 for pods with constraints on others, 0 for the rest.
func (c *class) minds() int {
	if c.ties != nil && len(c.ties.own)+len(c.ties.local) > 0 {
		return 1
	}
	return 0
}

// accept takes the nodes into the plan and says whether bounds let it.
func (t *turns) accept() bool {
	for i := range t.nodes {
		n := &t.nodes[i]
		n.set = newBitset(len(t.offers))
		for _, o := range n.offers {
			n.set.set(o)
		}
		n.takes = gather(n.takes)
		if !t.a.accept(n.planned, n.offers[0], t.a.b.cost[n.offers[0]]) {
			return false
		}
		t.a.nodes = append(t.a.nodes, n.planned)
	}
	for i := range t.hosts {
		t.hosts[i].takes = gather(t.hosts[i].takes)
	}
	return true
}

// gather adds up what was taken of each class.
func gather(takes []take) []take {
	slices.SortStableFunc(takes, func(a, b take) int { return cmp.Compare(a.class, b.class) })
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
func (t *turns) explain() {
	for c := range t.classes {
		cl := &t.classes[c]
		if t.a.left[c] == 0 || len(cl.reasons) > 0 {
			continue
		}
		for k := range t.domains {
			h := holder{problem: t.problem, k: int32(k), d: &t.domains[k], hosts: t.hosts, l: t.l}
			if h.part(int32(c)); len(h.parts) == 0 || some(h.parts[0].feasible) == 0 {
				continue
			}
			if r := h.reason(&h.parts[0]); len(cl.reasons) == 0 || !strings.HasPrefix(r.Message, "no domain") {
				cl.reasons = []model.Reason{r}
			}
		}
	}
	t.lonely(t.a.left)
}
