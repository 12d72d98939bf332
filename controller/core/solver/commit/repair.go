package commit

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/problem"
)

// maxExchanges is how many exchanges of pods repair examines for each unplaced pod; 200
// and 800 change no plan (docs/measurements/solver.md).
const maxExchanges = 400

// draftNode is a node with its pods assigned that is not in the plan yet.
type draftNode struct {
	*Node
	pattern *packing.Pattern
	// origin is the item of each entry of placed. short is how many pods are
	// missing.
	origin []int32
	short  int32
	// batch is the index of its batch in the list.
	batch int
}

// repairable reports whether there are rules on single nodes, and no bound makes the
// order matter in which nodes are committed.
func (d *nodeBuilder) repairable() bool {
	return !d.a.strictOptions && !d.a.Bounds.Tiered && !d.k.Items.Merged &&
		slices.ContainsFunc(d.a.p.Topology.All, func(c constraint.Group) bool { return c.PerHost })
}

// commitTogether commits packings as commit does, but assigns the pods of all nodes
// before it commits the first. Pods that are not allowed on a node with a free place
// can then be exchanged with pods of other nodes.
func (d *nodeBuilder) commitTogether(list []packing.Batch) int {
	a, all := d.a, d.draftAll(list)
	if slices.ContainsFunc(all, func(x draftNode) bool { return x.short > 0 }) {
		d.repair(all)
	}
	slices.SortStableFunc(all, func(x, y draftNode) int { return cmp.Compare(x.batch, y.batch) })
	count, refused := 0, -1
	for i := range all {
		x := &all[i]
		d.origin = x.origin
		o := int32(-1)
		if len(x.Placed) > 0 && x.batch != refused {
			o = d.finish(x)
		}
		switch {
		case len(x.Placed) == 0:
		case o >= 0 && a.accept(x.Node, o, d.k.Cost[o]):
			a.Nodes = append(a.Nodes, x.Node)
			count++
		default:
			d.undo(x.Node)
			if refused = x.batch; a.failed {
				return count
			}
		}
	}
	return count
}

// draftAll assigns the pods of all nodes.
func (d *nodeBuilder) draftAll(list []packing.Batch) []draftNode {
	var all []draftNode
	for _, i := range smallFirst(list) {
		for range list[i].Times {
			x := d.draft(list[i].Pattern)
			x.origin, x.batch = slices.Clone(d.origin), i
			all = append(all, x)
		}
	}
	return all
}

// smallFirst orders packings by the number of pods of a node, lowest first. Pods
// with rules for their node are assigned first; on a node with few pods they exclude
// the fewest others.
func smallFirst(list []packing.Batch) []int {
	order, sizes := make([]int, len(list)), make([]int32, len(list))
	for i, f := range list {
		order[i] = i
		for _, c := range f.Counts {
			sizes[i] += c
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(sizes[x], sizes[y]) })
	return order
}

// repairer fills the places of nodes that draftAll left empty.
type repairer struct {
	d   *nodeBuilder
	all []draftNode
	// nodesByItem lists, by item, the nodes whose pattern has it.
	nodesByItem [][]int32
	counts      constraint.NodeCounts
	tries       int
}

// repair fills empty places with pods that are left: directly, or by moving a pod of
// the same item there from another node, where the remaining pod takes its place.
func (d *nodeBuilder) repair(all []draftNode) {
	m := repairer{d: d, all: all, nodesByItem: make([][]int32, len(d.k.Items.List))}
	for x := range all {
		for _, i := range all[x].pattern.Items {
			m.nodesByItem[i] = append(m.nodesByItem[i], int32(x))
		}
	}
	for x := range all {
		for q, i := range all[x].pattern.Items {
			if all[x].short == 0 {
				break
			}
			m.fill(int32(x), i, all[x].pattern.Counts[q]-all[x].of(i))
		}
	}
}

// of returns how many pods of an item the node has.
func (x *draftNode) of(row int32) int32 {
	n := int32(0)
	for t, i := range x.origin {
		if i == row {
			n += x.Placed[t].N
		}
	}
	return n
}

// fill finds pods of item i for the empty places on node x.
func (m *repairer) fill(x, i, places int32) {
	parts := m.d.k.Items.List[i].Members
	for j := range parts {
		m.tries = 0
		for places > 0 && parts[j].N > 0 && m.find(x, i, parts[j].Class) {
			parts[j].N--
			m.d.a.Left[parts[j].Class]--
			m.all[x].short--
			places--
		}
	}
}

// find places a pod of class c on node x, in a place for item i. If that is not
// allowed, it moves a pod of another node to x and places the pod of class c there.
// It reports whether it succeeded.
func (m *repairer) find(x, i, c int32) bool {
	to, cl := &m.all[x], &m.d.a.p.Classes[c]
	if to.Counts.Allows(cl.Terms, 1) > 0 {
		m.add(to, i, c)
		return true
	}
	for at := range m.nodesByItem[i] {
		y := m.nodesByItem[i][(at+int(x))%len(m.nodesByItem[i])]
		if y == x {
			continue
		}
		if m.tries++; m.tries > maxExchanges {
			return false
		}
		from := &m.all[y]
		for t := range from.Placed {
			o := from.Placed[t].Class
			if from.origin[t] != i || to.Counts.Allows(m.d.a.p.Classes[o].Terms, 1) == 0 || !m.allowsSwap(from, t, cl) {
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

// allowsSwap reports whether a pod of the class may join the node once a pod of
// entry t has left it.
func (m *repairer) allowsSwap(x *draftNode, t int, cl *problem.Class) bool {
	m.counts.Counts = m.counts.Counts[:0]
	for at, other := range x.Placed {
		if at == t {
			other.N--
		}
		if other.N > 0 {
			m.counts.Add(m.d.a.p.Classes[other.Class].Terms, other.N)
		}
	}
	return m.counts.Allows(cl.Terms, 1) > 0
}

// drop removes one pod of entry t from a node.
func (m *repairer) drop(x *draftNode, t int) {
	cl := &m.d.a.p.Classes[x.Placed[t].Class]
	x.Demand.Add(&cl.Requests, -1)
	if x.Placed[t].N--; x.Placed[t].N == 0 {
		x.Placed = slices.Delete(x.Placed, t, t+1)
		x.origin = slices.Delete(x.origin, t, t+1)
	}
	x.Counts = m.d.a.p.CountsOf(x.Placed)
	if at := slices.Index(x.Ports, cl.Ports); at >= 0 {
		x.Ports = slices.Delete(x.Ports, at, at+1)
	}
}

// add adds one pod of class c, of item i, to a node.
func (m *repairer) add(x *draftNode, i, c int32) {
	x.Join(&m.d.a.p.Classes[c], problem.ClassCount{Class: c, N: 1})
	x.origin = append(x.origin, i)
}
