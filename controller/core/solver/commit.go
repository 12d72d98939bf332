package solver

import (
	"cmp"
	"slices"
)

// commit turns packings into planned nodes as far as bounds allow and says how
// many there were. What it leaves is packed again.
func (a *attempt) commit(k *packer, list []packing) int {
	if a.tight {
		a.thrifty(k, list)
	}
	d := newDealer(a, k)
	if a.mendable(k) {
		return a.together(d, list)
	}
	count := 0
	for i := range list {
		for range list[i].times {
			n, o := d.deal(list[i].pattern)
			if len(n.takes) == 0 {
				continue
			}
			if !a.accept(n, o, k.cost[o]) {
				d.undo(n)
				if a.failed {
					return count
				}
				break
			}
			a.nodes = append(a.nodes, n)
			count++
		}
	}
	return count
}

// thrifty puts first the packings that serve most pods for what they take.
func (a *attempt) thrifty(k *packer, list []packing) {
	value := func(f packing) float64 {
		n := int32(0)
		for _, c := range f.cnt {
			n += c
		}
		return float64(n) / k.sites[f.site].cost
	}
	slices.SortStableFunc(list, func(x, y packing) int { return cmp.Compare(value(y), value(x)) })
}

// accept takes the node into the plan, to be launched as offer o or like it,
// if tiers, limits and headroom allow. cost is what packing took o to cost.
func (a *attempt) accept(n *planned, o int32, cost float64) bool {
	n.lane = a.p.offers[o].lane
	if n.options == nil {
		a.listOptions(n, o)
	}
	if len(n.options) == 0 || a.b.cost[n.options[0]] > cost+1e-9 {
		return false // a tier ran out: others may be cheaper now
	}
	if !a.b.reserve(a.p.lanes[n.lane].pool, n.options) {
		a.failed = !a.tight
		return false
	}
	n.drawn = a.b.use(n.options[0])
	return true
}

// listOptions lists the offers that the node may be launched as, best first.
func (a *attempt) listOptions(n *planned, o int32) {
	most := a.p.in.MaxOptions
	if most <= 0 {
		most = DefaultMaxOptions
	}
	a.listLikely(n, o, most)
	a.vary(n, most)
}

// listLikely lists the offers that cost little more than the best.
func (a *attempt) listLikely(n *planned, o int32, most int) {
	p, b := a.p, a.b
	from := 0
	if !a.tight { // nothing much cheaper fits, or it would have been chosen
		from = b.first(n.lane, float64(b.cost[o]*(1-1e-4))-1e-6)
	}
	ceiling := 0.0
	for _, f := range b.byCost[n.lane][from:] {
		if len(n.options) > 0 && (b.cost[f] > ceiling || len(n.options) == most) {
			return
		}
		if !n.set.has(f) || a.tight && !p.modest(f, o) || !b.affords(f) ||
			!fits(&n.demand, &p.bins[p.offers[f].bin].room, p.dims.n()) {
			continue
		}
		if len(n.options) == 0 {
			ceiling = b.cost[f] * (1 + p.in.Tolerance)
		}
		n.options = append(n.options, f)
		if b.tiered {
			n.costs = append(n.costs, b.cost[f])
		}
	}
}

// modest says whether offer f takes no more of money and limits than offer o of
// the same lane.
func (p *problem) modest(f, o int32) bool {
	if p.offers[f].price > p.offers[o].price {
		return false
	}
	x, y := p.bins[p.offers[f].bin].usage, p.bins[p.offers[o].bin].usage
	for i := range x {
		if x[i] > y[i] {
			return false
		}
	}
	return true
}

// dealer gives the slots of patterns to classes.
type dealer struct {
	a *attempt
	k *packer
	// from and to are, by row, the parts that still have pods. Joined rows are
	// dealt from both ends, so that large and small pods come together.
	from, to []int
	// origin is the row of each take of the node dealt last.
	origin []int32
	// made remembers the options of equal nodes.
	made map[nodeKey]*planned
	// sets remembers intersections of choices.
	sets setTable
	both map[[2]int32]int32
}

func newDealer(a *attempt, k *packer) *dealer {
	d := &dealer{
		a: a, k: k, from: make([]int, len(k.rows)), to: make([]int, len(k.rows)),
		made: map[nodeKey]*planned{}, both: map[[2]int32]int32{},
	}
	for i := range k.rows {
		d.to[i] = len(k.rows[i].parts) - 1
	}
	return d
}

// nodeKey is what the options of a node depend on.
type nodeKey struct {
	offer, set int32
	demand     vec
}

// deal makes a node of the pattern and says which offer to launch it as.
func (d *dealer) deal(f *pattern) (*planned, int32) {
	x := d.seat(f)
	return x.planned, d.finish(&x)
}

// seat draws the pods of a node.
func (d *dealer) seat(f *pattern) seated {
	x := seated{planned: &planned{takes: make([]take, 0, len(f.idx))}, f: f}
	d.origin = d.origin[:0]
	for q, i := range f.idx {
		for need := f.cnt[q]; need > 0; {
			got := d.draw(x.planned, i, need)
			if got == 0 { // whoever waits cannot join these
				x.short += need
				break
			}
			need -= got
		}
	}
	return x
}

// finish decides which offer to launch a node as, whose pods have been drawn.
func (d *dealer) finish(x *seated) int32 {
	n, site := x.planned, x.f.site
	if x.short > 0 && !d.k.joined {
		site = d.k.smallest(x.f, &n.demand)
	}
	if d.k.joined {
		before := len(n.takes)
		d.shed(n, &d.k.sites[site].room)
		if len(n.takes) < before {
			n.with = d.a.p.newCompany(n.takes)
		}
		site = d.k.smallest(x.f, &n.demand)
	}
	set := int32(-1)
	for _, t := range n.takes {
		set = d.meet(set, d.a.p.classes[t.class].offers)
	}
	offer := d.k.sites[site].offer
	if set < 0 { // nothing is left of it
		return offer
	}
	n.set = d.sets.sets[set]
	if !d.a.tight && !d.a.b.bounded(d.a.p.lanes[d.a.p.offers[offer].lane].pool) {
		key := nodeKey{offer: offer, set: set, demand: n.demand}
		if same := d.made[key]; same != nil {
			n.options = same.options
		} else {
			d.made[key] = n
		}
	}
	return offer
}

// draw takes up to need pods of a row from the next of its parts that may join
// the node, none when none may.
func (d *dealer) draw(n *planned, i, need int32) int32 {
	r := &d.k.rows[i]
	for r.parts[d.from[i]].n == 0 {
		d.from[i]++
	}
	far := d.k.joined && need%2 == 0 // every other pod from the far end
	if far {
		for r.parts[d.to[i]].n == 0 {
			d.to[i]--
		}
	}
	if d.k.joined {
		need = 1
	}
	at, step := d.from[i], 1
	if far {
		at, step = d.to[i], -1
	}
	for ; at >= d.from[i] && at <= d.to[i]; at += step {
		part := &r.parts[at]
		cl := &d.a.p.classes[part.class]
		if got := n.with.allows(cl.ties, min(need, part.n)); got > 0 {
			part.n -= got
			d.a.left[part.class] -= got
			n.join(cl, take{part.class, got})
			d.origin = append(d.origin, i)
			return got
		}
	}
	return 0
}

// join adds the pods taken to the node.
func (n *planned) join(cl *class, t take) {
	n.demand.add(&cl.req, int64(t.n))
	n.takes = append(n.takes, t)
	n.with.join(cl.ties, t.n)
	if cl.ports >= 0 {
		n.ports = append(n.ports, cl.ports)
	}
}

// shed gives back pods, large ones first, until the rest fits the room.
func (d *dealer) shed(n *planned, room *vec) {
	for !fits(&n.demand, room, d.k.n) {
		over, most := 0, 0.0
		for r := range d.k.n {
			if by := float64(n.demand[r]-room[r]) * d.k.p.scale[r]; by > most {
				over, most = r, by
			}
		}
		large := 0
		for t := range n.takes {
			if d.a.p.classes[n.takes[t].class].req[over] > d.a.p.classes[n.takes[large].class].req[over] {
				large = t
			}
		}
		d.back(n, large)
		n.takes = slices.Delete(n.takes, large, large+1)
		d.origin = slices.Delete(d.origin, large, large+1)
	}
}

// meet numbers the intersection of a set (-1: everything) with a choice.
func (d *dealer) meet(set, choice int32) int32 {
	key := [2]int32{set, choice}
	id, ok := d.both[key]
	if !ok {
		both := d.a.p.choices.sets[choice].clone()
		if set >= 0 {
			both.and(d.sets.sets[set])
		}
		id = d.sets.id(both)
		d.both[key] = id
	}
	return id
}

// undo gives the pods of the node dealt last back to their rows.
func (d *dealer) undo(n *planned) {
	for t := range n.takes {
		d.back(n, t)
	}
}

// back gives one take of the node dealt last back to its row.
func (d *dealer) back(n *planned, t int) {
	i, x := d.origin[t], n.takes[t]
	parts := d.k.rows[i].parts
	j := slices.IndexFunc(parts, func(p take) bool { return p.class == x.class })
	parts[j].n += x.n
	d.a.left[x.class] += x.n
	d.from[i], d.to[i] = min(d.from[i], j), max(d.to[i], j)
	n.demand.add(&d.a.p.classes[x.class].req, -int64(x.n))
}
