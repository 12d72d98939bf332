package disrupt

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/model"
)

// The plan says where evicted pods should go, and the Kubernetes scheduler
// says where they do go: pods of Deployments come back under other names, and
// are put on the emptiest node that takes them. A plan that needs them packed
// tightly then leaves one over, a node is launched for it, and the cluster is
// rearranged for ever. So a consolidation must also work out that way, in
// whatever order the pods come.

// orders is in how many orders the pods are tried, fewer when they are many.
const (
	orders    = 4
	manyPods  = 2000
	fewOrders = 1
)

// certain says whether the pods find their places without being told.
func (sc *Scene) certain(p *Proposal) bool {
	if sc.Trusting {
		return true
	}
	snap := *p.Sim.Input.Snapshot
	snap.Nodes = slices.Clip(snap.Nodes)
	for i := range p.Sim.Plan.Nodes {
		n := sc.coming(&p.Sim.Plan.Nodes[i])
		n.State = model.Initialized
		snap.Nodes = append(snap.Nodes, n)
	}
	r := newRooms(&snap)
	pods := slices.Clone(p.Sim.Input.Pods)
	slices.SortStableFunc(pods, func(a, b int32) int {
		return cmp.Compare(r.scale(snap.Pods[a].Spec), r.scale(snap.Pods[b].Spec))
	})
	times := orders
	if len(pods) > manyPods {
		times = fewOrders
	}
	seed := snap.Seed
	for range times {
		if !r.scatter(pods) {
			return false
		}
		seed = shuffle(pods, seed)
	}
	return true
}

// shuffle mixes the pods by a linear congruential generator (Knuth's MMIX) and
// returns its state: the same snapshot is judged the same way.
func shuffle(pods []int32, seed uint64) uint64 {
	for i := len(pods) - 1; i > 0; i-- {
		seed = seed*6364136223846793005 + 1442695040888963407
		j := int((seed >> 33) % uint64(i+1))
		pods[i], pods[j] = pods[j], pods[i]
	}
	return seed
}

// scatter says whether every pod finds room when each goes to the emptiest
// node. Nothing is taken.
func (r *rooms) scatter(pods []int32) bool {
	moves := make([]placed, 0, len(pods))
	defer func() { r.undo(moves) }()
	for _, p := range pods {
		spec := r.s.Pods[p].Spec
		at := r.emptiest(spec)
		if at < 0 {
			return false
		}
		add(r.free[at], r.requests[spec], -1)
		moves = append(moves, placed{spec, at})
	}
	return true
}

func (r *rooms) emptiest(spec int32) int32 {
	best, most := int32(-1), -1.0
	for _, i := range r.order {
		if !holds(r.free[i], r.requests[spec]) {
			continue
		}
		if share := r.freeShare(i); share > most && r.admits(i, spec) {
			best, most = i, share
		}
	}
	return best
}

// freeShare is the mean of the free shares of cpu and memory, by which the
// scheduler's LeastAllocated scores.
func (r *rooms) freeShare(i int32) float64 {
	sum := 0.0
	for _, name := range []string{model.CPU, model.Memory} {
		if d, ok := r.dims[name]; ok && r.s.Nodes[i].Allocatable[name] > 0 {
			sum += float64(r.free[i][d]) / float64(r.s.Nodes[i].Allocatable[name])
		}
	}
	return sum
}
