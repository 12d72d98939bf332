package solver

import (
	"cmp"
	"slices"
)

// maxExchanges bounds the exchanges that mending looks at, for each pod.
const maxExchanges = 400

// seated is a node whose pods have been drawn, but which is not in the plan
// yet.
type seated struct {
	*planned
	f *pattern
	// origin is the row of each take, short how many pods are missing.
	origin []int32
	short  int32
	// packing is the place of f in the list.
	packing int
}

// mendable says whether pods mind their company on single nodes, and nothing is
// so scarce that it matters which node is taken first.
func (a *attempt) mendable(k *packer) bool {
	return !a.tight && !a.b.tiered && !k.joined &&
		slices.ContainsFunc(a.p.topo.censuses, func(c census) bool { return c.local })
}

// together commits packings as commit does, but draws the pods of all nodes
// before the first is taken, so that pods whose company is not wanted where
// there is room can change places with others.
func (a *attempt) together(d *dealer, list []packing) int {
	all := d.seatAll(list)
	if slices.ContainsFunc(all, func(x seated) bool { return x.short > 0 }) {
		d.mend(all)
	}
	slices.SortStableFunc(all, func(x, y seated) int { return cmp.Compare(x.packing, y.packing) })
	count, refused := 0, -1
	for i := range all {
		x := &all[i]
		d.origin = x.origin
		o := int32(-1)
		if len(x.takes) > 0 && x.packing != refused {
			o = d.finish(x)
		}
		switch {
		case len(x.takes) == 0:
		case o >= 0 && a.accept(x.planned, o, d.k.cost[o]):
			a.nodes = append(a.nodes, x.planned)
			count++
		default:
			d.undo(x.planned)
			if refused = x.packing; a.failed {
				return count
			}
		}
	}
	return count
}

// seatAll draws the pods of all nodes.
func (d *dealer) seatAll(list []packing) []seated {
	var all []seated
	for _, i := range smallFirst(list) {
		for range list[i].times {
			x := d.seat(list[i].pattern)
			x.origin, x.packing = slices.Clone(d.origin), i
			all = append(all, x)
		}
	}
	return all
}

// smallFirst orders packings by the pods of a node: those who mind their
// company, who are dealt first, keep fewest others away where there are few.
func smallFirst(list []packing) []int {
	order, sizes := make([]int, len(list)), make([]int32, len(list))
	for i, f := range list {
		order[i] = i
		for _, c := range f.cnt {
			sizes[i] += c
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(sizes[x], sizes[y]) })
	return order
}

// mender fills the places that dealing left empty.
type mender struct {
	*dealer
	all []seated
	// having lists, by row, the nodes that have pods of it.
	having [][]int32
	with   company
	tries  int
}

// mend fills empty places with pods that are left: directly, or by moving a
// pod of the same row there from a node that takes the one left instead.
func (d *dealer) mend(all []seated) {
	m := mender{dealer: d, all: all, having: make([][]int32, len(d.k.rows))}
	for x := range all {
		for _, i := range all[x].f.idx {
			m.having[i] = append(m.having[i], int32(x))
		}
	}
	for x := range all {
		for q, i := range all[x].f.idx {
			if all[x].short == 0 {
				break
			}
			m.fill(int32(x), i, all[x].f.cnt[q]-all[x].of(i))
		}
	}
}

// of is how many pods of a row the node has.
func (x *seated) of(row int32) int32 {
	n := int32(0)
	for t, i := range x.origin {
		if i == row {
			n += x.takes[t].n
		}
	}
	return n
}

// fill finds pods of row i for so many empty places on node x.
func (m *mender) fill(x, i, places int32) {
	parts := m.k.rows[i].parts
	for j := range parts {
		m.tries = 0
		for places > 0 && parts[j].n > 0 && m.find(x, i, parts[j].class) {
			parts[j].n--
			m.a.left[parts[j].class]--
			m.all[x].short--
			places--
		}
	}
}

// find gives a place for row i on node x to a pod of class c, or to one of
// another node that c takes the place of.
func (m *mender) find(x, i, c int32) bool {
	to, cl := &m.all[x], &m.a.p.classes[c]
	if to.with.allows(cl.ties, 1) > 0 {
		m.add(to, i, c)
		return true
	}
	for at := range m.having[i] {
		y := m.having[i][(at+int(x))%len(m.having[i])]
		if y == x {
			continue
		}
		if m.tries++; m.tries > maxExchanges {
			return false
		}
		from := &m.all[y]
		for t := range from.takes {
			o := from.takes[t].class
			if from.origin[t] != i || to.with.allows(m.a.p.classes[o].ties, 1) == 0 || !m.welcome(from, t, cl) {
				continue
			}
			m.drop(from, t)
			m.add(to, i, o)
			m.add(from, i, c)
			return true
		}
	}
	return false
}

// welcome says whether a pod of the class may join a node that one pod of take
// t has left.
func (m *mender) welcome(x *seated, t int, cl *class) bool {
	m.with.tallies = m.with.tallies[:0]
	for at, other := range x.takes {
		if at == t {
			other.n--
		}
		if other.n > 0 {
			m.with.join(m.a.p.classes[other.class].ties, other.n)
		}
	}
	return m.with.allows(cl.ties, 1) > 0
}

// drop takes one pod of take t off a node.
func (m *mender) drop(x *seated, t int) {
	cl := &m.a.p.classes[x.takes[t].class]
	x.demand.add(&cl.req, -1)
	if x.takes[t].n--; x.takes[t].n == 0 {
		x.takes = slices.Delete(x.takes, t, t+1)
		x.origin = slices.Delete(x.origin, t, t+1)
	}
	x.with = m.a.p.newCompany(x.takes)
	if at := slices.Index(x.ports, cl.ports); at >= 0 {
		x.ports = slices.Delete(x.ports, at, at+1)
	}
}

// add puts one pod of class c, of row i, on a node.
func (m *mender) add(x *seated, i, c int32) {
	x.join(&m.a.p.classes[c], take{c, 1})
	x.origin = append(x.origin, i)
}
