package disrupt

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// The plan assigns evicted pods to nodes, but the Kubernetes scheduler decides where
// their successors run: a Deployment's pods are recreated under other names and go
// to the least allocated node that admits them. If a plan only works with a tight
// packing, the scheduler leaves a pod unplaced, a node is launched for it, and the
// next search consolidates again, without end. A consolidation must therefore also
// work when each pod goes to the least allocated node, in whatever order the pods
// are created.

// placementOrders is how many orders of the pods are tried.
const placementOrders = 4

// worksInAnyOrder reports whether the scheduler can place the pods in each of the
// tried orders, together with all other pods that are about to move: those of
// accepted proposals and those that wait for the scheduler.
func (c *consolidator) worksInAnyOrder(p *Proposal) bool { return len(c.unplacedInSomeOrder(p)) == 0 }

// unplacedInSomeOrder returns the pods that find no node in one of the orders. Of
// the orders with unplaced pods it takes the one with the fewest. It is empty when
// every order works.
func (c *consolidator) unplacedInSomeOrder(p *Proposal) []int32 {
	if c.projection.Trusting {
		return nil
	}
	snap := *p.Sim.Input.Snapshot
	snap.Nodes = slices.Clone(snap.Nodes)
	for _, i := range c.projection.comingNodes {
		snap.Nodes[i] = c.asInitialized(snap.Nodes[i])
	}
	for i := range p.Sim.Plan.Nodes {
		snap.Nodes = append(snap.Nodes, c.asInitialized(c.projection.types.Node(&p.Sim.Plan.Nodes[i], len(snap.Nodes))))
	}
	pods := slices.Concat(c.projection.movingPods, p.Sim.Input.Pods)
	moving := make([]bool, len(snap.Pods))
	for _, i := range pods {
		moving[i] = true
	}
	r := newCapacityIndex(c.projection.specIndex(), &snap, moving)
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

// asInitialized returns the node as it will be once it is initialized.
func (c *consolidator) asInitialized(n model.Node) model.Node {
	if n.State == model.InFlight || n.State == model.Registered {
		n.State = model.Initialized
		n.Taints = nil
		if n.Pool >= 0 {
			n.Taints = c.projection.snap.Pools[n.Pool].Taints
		}
	}
	return n
}

// shuffle permutes the list with a linear congruential generator (Knuth's MMIX) and
// returns the generator's state. Equal seeds give equal permutations, so that equal
// snapshots give equal results.
func shuffle[T any](list []T, seed uint64) uint64 {
	for i := len(list) - 1; i > 0; i-- {
		seed = seed*6364136223846793005 + 1442695040888963407
		j := int((seed >> 33) % uint64(i+1))
		list[i], list[j] = list[j], list[i]
	}
	return seed
}

// placeLeastAllocated assigns each pod to the least allocated node that admits it
// and returns the pods without a node. It undoes all assignments before it returns.
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
