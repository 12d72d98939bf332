package disrupt

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// The plan says where evicted pods should go, and the Kubernetes scheduler
// says where they do go: pods of Deployments come back under other names, and
// are put on the emptiest node that takes them. A plan that needs them packed
// tightly then leaves one over, a node is launched for it, and the cluster is
// rearranged for ever. So a consolidation must also work out that way, in
// whatever order the pods come.

// placementOrders is in how many orders the pods are tried.
const placementOrders = 4

// worksInAnyOrder says whether the pods find their places without being told, together
// with all others that are to move: those of what was accepted before, and
// those that wait for the scheduler.
func (sc *Scene) worksInAnyOrder(p *Proposal) bool { return len(sc.unplacedInSomeOrder(p)) == 0 }

// unplacedInSomeOrder are pods that find no place in some order: the fewest that one of the
// orders leaves over, none when every order works out.
func (sc *Scene) unplacedInSomeOrder(p *Proposal) []int32 {
	if sc.Trusting {
		return nil
	}
	snap := *p.Sim.Input.Snapshot
	snap.Nodes = slices.Clone(snap.Nodes)
	for _, i := range sc.comingNodes {
		snap.Nodes[i] = sc.asInitialized(snap.Nodes[i])
	}
	for i := range p.Sim.Plan.Nodes {
		snap.Nodes = append(snap.Nodes, sc.asInitialized(sc.nodeOf(&p.Sim.Plan.Nodes[i])))
	}
	pods := slices.Concat(sc.movingPods, p.Sim.Input.Pods)
	moving := make([]bool, len(snap.Pods))
	for _, i := range pods {
		moving[i] = true
	}
	r := newCapacityIndex(sc.specIndex(), &snap, moving)
	slices.SortStableFunc(pods, func(a, b int32) int {
		return cmp.Compare(r.size(snap.Pods[a].Spec), r.size(snap.Pods[b].Spec))
	})
	seed := snap.Seed
	var out []int32
	for range placementOrders {
		if left := r.placeLeastAllocated(pods); len(left) > 0 && (out == nil || len(left) < len(out)) {
			out = left
		}
		seed = shuffle(pods, seed)
	}
	return out
}

// asInitialized is a node that is still coming as it will be.
func (sc *Scene) asInitialized(n model.Node) model.Node {
	if n.State == model.InFlight || n.State == model.Registered {
		n.State = model.Initialized
		n.Taints = nil
		if n.Pool >= 0 {
			n.Taints = sc.snap.Pools[n.Pool].Taints
		}
	}
	return n
}

// shuffle mixes a list by a linear congruential generator (Knuth's MMIX) and
// returns its state: the same snapshot is judged the same way.
func shuffle[T any](list []T, seed uint64) uint64 {
	for i := len(list) - 1; i > 0; i-- {
		seed = seed*6364136223846793005 + 1442695040888963407
		j := int((seed >> 33) % uint64(i+1))
		list[i], list[j] = list[j], list[i]
	}
	return seed
}

// placeLeastAllocated sends every pod to the emptiest node and returns those that find no
// room. Nothing is taken in the end.
func (r *capacityIndex) placeLeastAllocated(pods []int32) (left []int32) {
	moves := make([]placed, 0, len(pods))
	for _, p := range pods {
		spec := r.s.Pods[p].Spec
		at := r.leastAllocated(spec)
		if at < 0 {
			left = append(left, p)
			continue
		}
		r.take(at, spec, 1)
		moves = append(moves, placed{spec, at})
	}
	r.undo(moves)
	return left
}
