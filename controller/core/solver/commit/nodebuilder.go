package commit

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// commit turns packings into planned nodes as far as the bounds allow and returns
// how many nodes it added. The pods that it leaves are packed in the next round.
func (d *nodeBuilder) commit() int {
	a, list := d.a, d.k.result.Batches
	if a.strictOptions {
		mostPodsFirst(d.k.result)
	}
	if d.repairable() {
		return d.commitTogether(list)
	}
	count := 0
	for i := range list {
		for range list[i].Times {
			n, o := d.build(list[i].Pattern)
			if len(n.Placed) == 0 {
				continue
			}
			if !a.accept(n, o, d.k.Cost[o]) {
				d.undo(n)
				if a.failed {
					return count
				}
				break
			}
			a.Nodes = append(a.Nodes, n)
			count++
		}
	}
	return count
}

// mostPodsFirst sorts the packings by pods per cost, highest first.
func mostPodsFirst(r *packing.Result) {
	value := func(f packing.Batch) float64 {
		n := int32(0)
		for _, c := range f.Counts {
			n += c
		}
		return float64(n) / r.Cost(f.Bin)
	}
	slices.SortStableFunc(r.Batches, func(x, y packing.Batch) int { return cmp.Compare(value(y), value(x)) })
}

// nodeBuilder assigns pods of classes to the places of patterns.
type nodeBuilder struct {
	a *Attempt
	k *Round
	// from and to are, by item, the first and last member with pods left. Members of
	// joined items are used from both ends, so that large and small pods are mixed.
	from, to []int
	// origin is the item of each entry of placed, for the node built last.
	origin []int32
	// built holds one node per nodeKey, whose options equal nodes share.
	built map[nodeKey]*Node
	// sets numbers the sets in intersections, which caches intersections of choices.
	sets          vec.Sets
	intersections map[[2]int32]int32
}

func newNodeBuilder(a *Attempt, k *Round) *nodeBuilder {
	d := &nodeBuilder{
		a: a, k: k, from: make([]int, len(k.Items.List)), to: make([]int, len(k.Items.List)),
		built: map[nodeKey]*Node{}, intersections: map[[2]int32]int32{},
	}
	for i := range k.Items.List {
		d.to[i] = len(k.Items.List[i].Members) - 1
	}
	return d
}

// nodeKey is what the options of a node depend on.
type nodeKey struct {
	offer, set int32
	demand     vec.Vector
}

// build makes a node of the pattern and returns the offer to launch it as.
func (d *nodeBuilder) build(f *packing.Pattern) (*Node, int32) {
	x := d.draft(f)
	return x.Node, d.finish(&x)
}

// draft assigns pods to the places of a node.
func (d *nodeBuilder) draft(f *packing.Pattern) draftNode {
	x := draftNode{Node: &Node{Placed: make([]problem.ClassCount, 0, len(f.Items))}, pattern: f}
	d.origin = d.origin[:0]
	for q, i := range f.Items {
		for need := f.Counts[q]; need > 0; {
			got := d.draw(x.Node, i, need)
			if got == 0 { // no pod that is left may join these
				x.short += need
				break
			}
			need -= got
		}
	}
	return x
}

// finish returns the offer to launch a drafted node as.
func (d *nodeBuilder) finish(x *draftNode) int32 {
	n, bt := x.Node, x.pattern.Bin
	if x.short > 0 && !d.k.Items.Merged {
		bt = d.k.result.Cheapest(x.pattern, &n.Demand)
	}
	if d.k.Items.Merged {
		before := len(n.Placed)
		d.dropExcess(n, d.k.result.Capacity(bt))
		if len(n.Placed) < before {
			n.Counts = d.a.p.CountsOf(n.Placed)
		}
		bt = d.k.result.Cheapest(x.pattern, &n.Demand)
	}
	set := int32(-1)
	for _, t := range n.Placed {
		set = d.intersect(set, d.a.p.Classes[t.Class].Choice)
	}
	offer := d.k.result.Type(bt)
	if set < 0 { // the node has no pods
		return offer
	}
	n.Set = d.sets.All[set]
	if !d.a.strictOptions && !d.a.Bounds.Bounded(d.a.p.Supply.Templates[d.a.p.Supply.Offers[offer].Template].Pool) {
		key := nodeKey{offer: offer, set: set, demand: n.Demand}
		if same := d.built[key]; same != nil {
			n.Options = same.Options
		} else {
			d.built[key] = n
		}
	}
	return offer
}

// draw takes up to need pods of item i from its next member whose pods may join the
// node. It returns how many it took, 0 when none may.
func (d *nodeBuilder) draw(n *Node, i, need int32) int32 {
	r := &d.k.Items.List[i]
	for r.Members[d.from[i]].N == 0 {
		d.from[i]++
	}
	far := d.k.Items.Merged && need%2 == 0 // every second pod comes from the far end
	if far {
		for r.Members[d.to[i]].N == 0 {
			d.to[i]--
		}
	}
	if d.k.Items.Merged {
		need = 1
	}
	at, step := d.from[i], 1
	if far {
		at, step = d.to[i], -1
	}
	for ; at >= d.from[i] && at <= d.to[i]; at += step {
		part := &r.Members[at]
		cl := &d.a.p.Classes[part.Class]
		if got := n.Counts.Allows(cl.Terms, min(need, part.N)); got > 0 {
			part.N -= got
			d.a.Left[part.Class] -= got
			n.Join(cl, problem.ClassCount{Class: part.Class, N: got})
			d.origin = append(d.origin, i)
			return got
		}
	}
	return 0
}

// dropExcess gives back pods, large ones first, until the rest fits the capacity.
func (d *nodeBuilder) dropExcess(n *Node, room *vec.Vector) {
	for !vec.Fits(&n.Demand, room, d.k.Dims) {
		over, most := 0, 0.0
		for r := range d.k.Dims {
			if by := float64(n.Demand[r]-room[r]) * d.k.Problem.Scale[r]; by > most {
				over, most = r, by
			}
		}
		large := 0
		for t := range n.Placed {
			if d.a.p.Classes[n.Placed[t].Class].Requests[over] > d.a.p.Classes[n.Placed[large].Class].Requests[over] {
				large = t
			}
		}
		d.giveBack(n, large)
		n.Placed = slices.Delete(n.Placed, large, large+1)
		d.origin = slices.Delete(d.origin, large, large+1)
	}
}

// intersect returns the number of the intersection of a set (-1: everything) with a
// choice.
func (d *nodeBuilder) intersect(set, choice int32) int32 {
	key := [2]int32{set, choice}
	id, ok := d.intersections[key]
	if !ok {
		both := d.a.p.Choices.All[choice].Clone()
		if set >= 0 {
			both.And(d.sets.All[set])
		}
		id = d.sets.ID(both)
		d.intersections[key] = id
	}
	return id
}

// undo gives the pods of the node built last back to their items.
func (d *nodeBuilder) undo(n *Node) {
	for t := range n.Placed {
		d.giveBack(n, t)
	}
}

// giveBack gives one entry of the node built last back to its item.
func (d *nodeBuilder) giveBack(n *Node, t int) {
	i, x := d.origin[t], n.Placed[t]
	parts := d.k.Items.List[i].Members
	j := slices.IndexFunc(parts, func(p problem.ClassCount) bool { return p.Class == x.Class })
	parts[j].N += x.N
	d.a.Left[x.Class] += x.N
	d.from[i], d.to[i] = min(d.from[i], j), max(d.to[i], j)
	n.Demand.Add(&d.a.p.Classes[x.Class].Requests, -int64(x.N))
}
