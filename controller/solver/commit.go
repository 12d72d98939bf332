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
	d := dealer{a: a, k: k, at: make([]int, len(k.rows)), made: map[nodeKey]*planned{}, both: map[[2]int32]int32{}}
	count := 0
	for i := range list {
		for range list[i].times {
			n, o := d.deal(list[i].pattern)
			if !a.accept(n, o, k.cost[o]) {
				d.undo(list[i].pattern, n)
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
	a.b.use(n.options[0])
	return true
}

// listOptions lists the offers that the node may be launched as, best first.
func (a *attempt) listOptions(n *planned, o int32) {
	p, b := a.p, a.b
	most := p.in.MaxOptions
	if most <= 0 {
		most = DefaultMaxOptions
	}
	from := 0
	if !a.tight { // nothing much cheaper fits, or it would have been chosen
		from = b.first(n.lane, b.cost[o]*(1-1e-4)-1e-6)
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

// use counts a node of the offer and moves its cost to the next tier when the
// present one is full.
func (b *budget) use(o int32) {
	b.used[o]++
	if !b.tiered || len(b.p.offers[o].tiers) == 0 {
		return
	}
	cost, _ := costAt(b.p.offers[o].tiers, b.p.offers[o].price, b.used[o])
	if cost == b.cost[o] {
		return
	}
	b.cost[o] = cost
	lane := b.p.offers[o].lane
	list := slices.Clone(b.byCost[lane])
	slices.SortStableFunc(list, func(x, y int32) int {
		if c := cmp.Compare(b.cost[x], b.cost[y]); c != 0 {
			return c
		}
		if c := cmp.Compare(b.p.offers[x].price, b.p.offers[y].price); c != 0 {
			return c
		}
		return cmp.Compare(x, y)
	})
	b.byCost[lane] = list
}

// dealer gives the slots of patterns to classes.
type dealer struct {
	a *attempt
	k *packer
	// at is, by row, the first part that still has pods.
	at []int
	// made remembers the options of equal nodes.
	made map[nodeKey]*planned
	// sets remembers intersections of choices.
	sets setTable
	both map[[2]int32]int32
}

// nodeKey is what the options of a node depend on.
type nodeKey struct {
	offer, set int32
	demand     vec
}

// deal makes a node of the pattern and says which offer to launch it as.
func (d *dealer) deal(f *pattern) (*planned, int32) {
	n := &planned{takes: make([]take, 0, len(f.idx))}
	set := int32(-1)
	for q, i := range f.idx {
		r := &d.k.rows[i]
		for need := f.cnt[q]; need > 0; {
			part := &r.parts[d.at[i]]
			if got := min(need, part.n); got > 0 {
				c := &d.a.p.classes[part.class]
				n.takes = append(n.takes, take{part.class, got})
				n.demand.add(&c.req, int64(got))
				set = d.meet(set, c.offers)
				d.a.left[part.class] -= got
				part.n -= got
				need -= got
			}
			if part.n == 0 {
				d.at[i]++
			}
		}
		if r.ports >= 0 {
			n.ports = append(n.ports, r.ports)
		}
	}
	n.set = d.sets.sets[set]
	offer := d.k.sites[f.site].offer
	if d.k.joined {
		offer = d.k.sites[d.k.smallest(f, &n.demand)].offer
	}
	if !d.a.tight && !d.a.b.bounded(d.a.p.lanes[d.a.p.offers[offer].lane].pool) {
		key := nodeKey{offer: offer, set: set, demand: n.demand}
		if same := d.made[key]; same != nil {
			n.options = same.options
		} else {
			d.made[key] = n
		}
	}
	return n, offer
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

// undo gives the pods of a node back to the rows of its pattern.
func (d *dealer) undo(f *pattern, n *planned) {
	t := 0
	for q, i := range f.idx {
		r := &d.k.rows[i]
		for back := f.cnt[q]; back > 0; t++ {
			j := slices.IndexFunc(r.parts, func(p take) bool { return p.class == n.takes[t].class })
			r.parts[j].n += n.takes[t].n
			d.a.left[n.takes[t].class] += n.takes[t].n
			d.at[i] = min(d.at[i], j)
			back -= n.takes[t].n
		}
	}
}
