package disrupt

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// capacityIndex estimates cheaply which pods fit on which nodes. It considers
// requests, taints, node selectors and node affinity. It ignores all other
// constraints, so that every result is checked by the solver.
type capacityIndex struct {
	*specIndex

	s *model.Snapshot
	// free is by node what its pods leave of each resource. perUnit is by node the
	// share of its allocatable cpu and memory that one unit is.
	free    [][]int64
	perUnit [][2]float64
	// trees are by kind of node, with the most allocated nodes first. tree and leaf
	// give a node's position, and rank its position in the order of all nodes. tree
	// is -1 for a node that admits no moved pods.
	trees []*capacityTree
	tree  []int32
	leaf  []int32
	rank  []int32
}

// newCapacityIndex indexes the free resources of the snapshot's nodes. The pods
// marked in moving do not count as using their nodes.
func newCapacityIndex(g *specIndex, s *model.Snapshot, moving []bool) *capacityIndex {
	n := len(s.Nodes)
	r := &capacityIndex{
		specIndex: g, s: s, free: make([][]int64, n), perUnit: make([][2]float64, n),
		tree: make([]int32, n), leaf: make([]int32, n), rank: make([]int32, n),
	}
	for i := range s.Nodes {
		r.free[i] = g.vector(s.Nodes[i].Allocatable)
		for k, name := range [...]string{model.CPU, model.Memory} {
			if all := s.Nodes[i].Allocatable[name]; all > 0 {
				r.perUnit[i][k] = 1 / float64(all)
			}
		}
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node >= 0 && !moving[i] {
			add(r.free[p.Node], g.requests[p.Spec], -1)
		}
	}
	r.buildTrees()
	return r
}

// buildTrees sorts the nodes and builds one tree per kind.
func (r *capacityIndex) buildTrees() {
	var order []int32
	slack := make([]float64, len(r.s.Nodes))
	for i := range r.s.Nodes {
		r.tree[i] = -1
		if takes(&r.s.Nodes[i]) {
			order = append(order, int32(i))
			slack[i] = r.leastFreeShare(int32(i))
			r.tree[i] = r.kind(&r.s.Nodes[i])
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(slack[a], slack[b]) })
	members := make([][]int32, len(r.kinds))
	for at, i := range order {
		r.rank[i] = int32(at)
		r.leaf[i] = int32(len(members[r.tree[i]]))
		members[r.tree[i]] = append(members[r.tree[i]], i)
	}
	r.trees = make([]*capacityTree, len(members))
	for k := range members {
		t := newCapacityTree(members[k], len(r.dims))
		for leaf, i := range members[k] {
			t.set(leaf, r.free[i], r.freeShare(i))
		}
		t.build()
		r.trees[k] = t
	}
}

// takes reports whether pods may move to the node.
func takes(n *model.Node) bool {
	return (n.State == model.Initialized || n.State == model.Unmanaged) && !n.NotReady &&
		!slices.ContainsFunc(n.Taints, func(t model.Taint) bool { return t.Key == noMoveTaint })
}

func add(to, more []int64, sign int64) {
	for d := range to {
		to[d] += sign * more[d]
	}
}

// leastFreeShare returns the free share of the resource that the node has the least
// of, in [0, 1].
func (r *capacityIndex) leastFreeShare(i int32) float64 {
	least := 1.0
	for name, d := range r.dims {
		if all := r.s.Nodes[i].Allocatable[name]; all > 0 {
			least = min(least, float64(r.free[i][d])/float64(all))
		}
	}
	return least
}

// freeShare returns the sum of the free shares of cpu and memory, the score of the
// scheduler's LeastAllocated strategy.
func (r *capacityIndex) freeShare(i int32) float64 {
	sum := 0.0
	for k, name := range [...]string{model.CPU, model.Memory} {
		if d, ok := r.dims[name]; ok {
			sum += float64(float64(r.free[i][d]) * r.perUnit[i][k]) // rounded before it is added, on every machine
		}
	}
	return max(0, sum)
}

// take assigns a pod of a spec to a node (sign 1) or removes it (sign -1).
func (r *capacityIndex) take(i, spec int32, sign int64) {
	add(r.free[i], r.requests[spec], -sign)
	r.write(i)
}

func (r *capacityIndex) write(i int32) {
	t := r.trees[r.tree[i]]
	t.set(int(r.leaf[i]), r.free[i], r.freeShare(i))
	t.updateAbove(int(r.leaf[i]))
}

// exclude removes a node from its tree, so that no pod is assigned to it, until
// include.
func (r *capacityIndex) exclude(i int32) {
	if r.tree[i] >= 0 {
		t := r.trees[r.tree[i]]
		t.close(int(r.leaf[i]))
		t.updateAbove(int(r.leaf[i]))
	}
}

func (r *capacityIndex) include(i int32) {
	if r.tree[i] >= 0 {
		r.write(i)
	}
}

// placed is one tentative assignment of a pod.
type placed struct {
	spec, node int32
}

// placeBestFit assigns the pods, the largest first, each to the most allocated node
// that has room for it. left are the pods without a node.
func (r *capacityIndex) placeBestFit(pods []int32) (moves []placed, left []int32) {
	byScale := slices.Clone(pods)
	slices.SortStableFunc(byScale, func(a, b int32) int {
		return cmp.Compare(r.size(r.s.Pods[b].Spec), r.size(r.s.Pods[a].Spec))
	})
	for _, p := range byScale {
		spec := r.s.Pods[p].Spec
		at := r.mostAllocated(spec)
		if at < 0 {
			left = append(left, p)
			continue
		}
		r.take(at, spec, 1)
		moves = append(moves, placed{spec, at})
	}
	return moves, left
}

func (r *capacityIndex) undo(moves []placed) {
	for _, m := range moves {
		r.take(m.node, m.spec, -1)
	}
}

// mostAllocated returns the first node, in the order of the index's construction,
// that has room for a pod of the spec; -1 for none.
func (r *capacityIndex) mostAllocated(spec int32) int32 {
	best := int32(-1)
	for _, k := range r.admittingKinds(spec) {
		if int(k) >= len(r.trees) {
			break
		}
		if leaf := r.trees[k].first(r.requests[spec]); leaf >= 0 {
			if i := r.trees[k].nodes[leaf]; best < 0 || r.rank[i] < r.rank[best] {
				best = i
			}
		}
	}
	return best
}

// leastAllocated returns the node with the largest free share that has room for a
// pod of the spec; -1 for none.
func (r *capacityIndex) leastAllocated(spec int32) int32 {
	best, most := int32(-1), -1.0
	for _, k := range r.admittingKinds(spec) {
		if int(k) >= len(r.trees) {
			break
		}
		if leaf, share := r.trees[k].emptiest(r.requests[spec], most); leaf >= 0 {
			best, most = r.trees[k].nodes[leaf], share
		}
	}
	return best
}
