package disrupt

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/model"
)

// rooms estimates, at the cost of some comparisons, which pods fit on which
// nodes: by requests, taints, node selector and affinity. What else keeps pods
// apart is left to the solver, which has the last word.
type rooms struct {
	s *model.Snapshot
	// dims index resource names; requests are by spec, free by node.
	dims     map[string]int
	requests [][]int64
	free     [][]int64
	// order lists the nodes that take pods, fullest first, in blocks of which
	// most is the largest room.
	order []int32
	most  [][]int64
	block []int // by node, -1 for none
	// fits remembers which spec may run on which node.
	fits map[[2]int32]bool
}

const blockSize = 32

func newRooms(s *model.Snapshot) *rooms {
	r := &rooms{s: s, dims: map[string]int{}, fits: map[[2]int32]bool{}}
	for i := range s.Specs {
		for name := range s.Specs[i].Requests {
			if _, ok := r.dims[name]; !ok {
				r.dims[name] = len(r.dims)
			}
		}
	}
	r.requests = make([][]int64, len(s.Specs))
	for i := range s.Specs {
		r.requests[i] = r.vector(s.Specs[i].Requests)
	}
	r.free = make([][]int64, len(s.Nodes))
	for i := range s.Nodes {
		r.free[i] = r.vector(s.Nodes[i].Allocatable)
		if takes(&s.Nodes[i]) {
			r.order = append(r.order, int32(i))
		}
	}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node >= 0 {
			add(r.free[p.Node], r.requests[p.Spec], -1)
		}
	}
	slices.SortStableFunc(r.order, func(a, b int32) int { return cmp.Compare(r.slack(a), r.slack(b)) })
	r.block = make([]int, len(s.Nodes))
	for i := range r.block {
		r.block[i] = -1
	}
	for at, i := range r.order {
		r.block[i] = at / blockSize
	}
	for b := range (len(r.order) + blockSize - 1) / blockSize {
		r.most = append(r.most, nil)
		r.measure(b)
	}
	return r
}

// takes says whether pods may move to the node.
func takes(n *model.Node) bool {
	return (n.State == model.Initialized || n.State == model.Unmanaged) && !n.NotReady &&
		!slices.ContainsFunc(n.Taints, func(t model.Taint) bool { return t.Key == away })
}

func (r *rooms) vector(in model.Resources) []int64 {
	out := make([]int64, len(r.dims))
	for name, n := range in {
		if d, ok := r.dims[name]; ok {
			out[d] = n
		}
	}
	return out
}

func add(to, more []int64, sign int64) {
	for d := range to {
		to[d] += sign * more[d]
	}
}

// slack is the share of the node that is free, of the resource that it has
// least of.
func (r *rooms) slack(i int32) float64 {
	least := 1.0
	for name, d := range r.dims {
		if all := r.s.Nodes[i].Allocatable[name]; all > 0 {
			least = min(least, float64(r.free[i][d])/float64(all))
		}
	}
	return least
}

func (r *rooms) measure(b int) {
	most := make([]int64, len(r.dims))
	for _, i := range r.order[b*blockSize : min(len(r.order), (b+1)*blockSize)] {
		for d, n := range r.free[i] {
			most[d] = max(most[d], n)
		}
	}
	r.most[b] = most
}

func holds(room, request []int64) bool {
	for d, n := range request {
		if n > room[d] {
			return false
		}
	}
	return true
}

// placed is a pod's tentative move.
type placed struct {
	spec, node int32
}

// move finds room for the pods of a node elsewhere, the largest first, and
// takes it. left are the pods that found none.
func (r *rooms) move(node int32, pods []int32, barred []bool) (moves []placed, left []int32) {
	byScale := slices.Clone(pods)
	slices.SortStableFunc(byScale, func(a, b int32) int {
		return cmp.Compare(r.scale(r.s.Pods[b].Spec), r.scale(r.s.Pods[a].Spec))
	})
	for _, p := range byScale {
		spec := r.s.Pods[p].Spec
		at := r.find(node, spec, barred)
		if at < 0 {
			left = append(left, p)
			continue
		}
		add(r.free[at], r.requests[spec], -1)
		r.measure(r.block[at])
		moves = append(moves, placed{spec, at})
	}
	return moves, left
}

func (r *rooms) undo(moves []placed) {
	for _, m := range moves {
		add(r.free[m.node], r.requests[m.spec], 1)
		r.measure(r.block[m.node])
	}
}

// scale orders specs by their size.
func (r *rooms) scale(spec int32) int64 {
	return r.s.Specs[spec].Requests[model.CPU] + r.s.Specs[spec].Requests[model.Memory]>>22
}

func (r *rooms) find(from, spec int32, barred []bool) int32 {
	want := r.requests[spec]
	for b := range r.most {
		if !holds(r.most[b], want) {
			continue
		}
		for _, i := range r.order[b*blockSize : min(len(r.order), (b+1)*blockSize)] {
			if i != from && !barred[i] && holds(r.free[i], want) && r.admits(i, spec) {
				return i
			}
		}
	}
	return -1
}

func (r *rooms) admits(node, spec int32) bool {
	key := [2]int32{node, spec}
	ok, known := r.fits[key]
	if !known {
		ok = admits(&r.s.Nodes[node], &r.s.Specs[spec])
		r.fits[key] = ok
	}
	return ok
}

func admits(n *model.Node, s *model.PodSpec) bool {
	for i := range n.Taints {
		t := &n.Taints[i]
		if t.Effect != model.PreferNoSchedule && !slices.ContainsFunc(s.Tolerations, func(x model.Toleration) bool { return tolerates(&x, t) }) {
			return false
		}
	}
	for key, value := range s.NodeSelector {
		if n.Labels[key] != value {
			return false
		}
	}
	return s.Affinity == nil || slices.ContainsFunc(s.Affinity, func(term model.Term) bool {
		for i := range term {
			value, present := n.Labels[term[i].Key]
			if !term[i].Matches(value, present) {
				return false
			}
		}
		return len(term) > 0
	})
}

func tolerates(x *model.Toleration, t *model.Taint) bool {
	if x.Effect != "" && x.Effect != t.Effect {
		return false
	}
	if x.Key == "" {
		return x.Exists
	}
	return x.Key == t.Key && (x.Exists || x.Value == t.Value)
}
