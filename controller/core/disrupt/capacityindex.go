package disrupt

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// capacityIndex estimates, at the cost of some comparisons, which pods fit on which
// nodes: by requests, taints, node selector and affinity. What else keeps pods
// apart is left to the solver, which has the last word.
type capacityIndex struct {
	*specIndex

	s *model.Snapshot
	// free is by node, perUnit what one unit of cpu and memory is of the node.
	free    [][]int64
	perUnit [][2]float64
	// trees are by kind of node, fullest nodes first; tree and leaf say where
	// a node is, rank its place among all of them. tree is -1 for a node that
	// takes no pods.
	trees []*capacityTree
	tree  []int32
	leaf  []int32
	rank  []int32
}

// newCapacityIndex measures the nodes of a snapshot with the pods that it has on them,
// but for those marked, which are about to move.
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

// buildTrees makes the trees.
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

// takes says whether pods may move to the node.
func takes(n *model.Node) bool {
	return (n.State == model.Initialized || n.State == model.Unmanaged) && !n.NotReady &&
		!slices.ContainsFunc(n.Taints, func(t model.Taint) bool { return t.Key == noMoveTaint })
}

func add(to, more []int64, sign int64) {
	for d := range to {
		to[d] += sign * more[d]
	}
}

// leastFreeShare is the share of the node that is free, of the resource that it has
// least of.
func (r *capacityIndex) leastFreeShare(i int32) float64 {
	least := 1.0
	for name, d := range r.dims {
		if all := r.s.Nodes[i].Allocatable[name]; all > 0 {
			least = min(least, float64(r.free[i][d])/float64(all))
		}
	}
	return least
}

// freeShare is the sum of the free shares of cpu and memory, by which the
// scheduler's LeastAllocated scores.
func (r *capacityIndex) freeShare(i int32) float64 {
	sum := 0.0
	for k, name := range [...]string{model.CPU, model.Memory} {
		if d, ok := r.dims[name]; ok {
			sum += float64(float64(r.free[i][d]) * r.perUnit[i][k]) // rounded before it is added, on every machine
		}
	}
	return max(0, sum)
}

// take puts pods of a spec on a node, or takes them off again.
func (r *capacityIndex) take(i, spec int32, sign int64) {
	add(r.free[i], r.requests[spec], -sign)
	r.write(i)
}

func (r *capacityIndex) write(i int32) {
	t := r.trees[r.tree[i]]
	t.set(int(r.leaf[i]), r.free[i], r.freeShare(i))
	t.updateAbove(int(r.leaf[i]))
}

// exclude keeps pods off a node until it is opened again.
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

// placed is a pod's tentative move.
type placed struct {
	spec, node int32
}

// placeBestFit finds room for pods, the largest first, on the fullest nodes that have
// some, and takes it. left are the pods that found none.
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

// mostAllocated is the fullest node, as they were at first, that takes a pod of the
// spec; -1 for none.
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

// leastAllocated is the node with the largest free share that takes a pod of the
// spec; -1 for none.
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
