package disrupt

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/draw"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// The plan assigns evicted pods to nodes, but the Kubernetes scheduler decides where
// their successors run: a Deployment's pods are recreated under other names and go
// to the least allocated node that admits them. If a plan only works with a tight
// packing, the scheduler leaves a pod unplaced, and a node is launched for it. A
// consolidation is therefore judged by where the pods end when each goes to the least
// allocated node, in several orders in which they may be created.

// placementOrders is how many orders of the pods are tried.
const placementOrders = 8

// unplacedInSomeOrder returns the pods that find no node in one of the orders. Of
// the orders with unplaced pods it takes the one with the fewest. It is empty when
// every order works.
func (c *consolidator) unplacedInSomeOrder(p *Proposal) []int32 {
	var out []int32
	for _, left := range c.unplacedByOrder(p) {
		if len(left) > 0 && (out == nil || len(left) < len(out)) {
			out = left
		}
	}
	return out
}

// unplacedByOrder returns, for each of the tried orders, the pods that find no node. The
// scheduler places the pods together with all others that are about to move: those of
// accepted proposals and those that wait for the scheduler.
func (c *consolidator) unplacedByOrder(p *Proposal) [][]int32 {
	if c.projection.Trusting {
		return nil
	}
	if p.unplaced == nil {
		p.unplaced = c.placeInOrders(p)
	}
	return p.unplaced
}

func (c *consolidator) placeInOrders(p *Proposal) [][]int32 {
	snap := *p.Sim.Input.Snapshot
	snap.Nodes = slices.Clone(snap.Nodes)
	for i := range p.Sim.Plan.Nodes {
		snap.Nodes = append(snap.Nodes, c.asInitialized(c.projection.types.Node(&p.Sim.Plan.Nodes[i], len(snap.Nodes))))
	}
	out := make([][]int32, 0, placementOrders)
	c.inOrders(&snap, p.Sim.Input.Pods, draw.Numbers(snap.Seed^c.projection.redrawn*0x9e3779b97f4a7c15), func(_, left []int32, _ []placed) { // far from the seeds of other decisions
		out = append(out, left)
	})
	return out
}

// inOrders places the pods, and all others that are about to move, in each of the tried orders,
// and calls each with the order, the pods without a node and where the others are. It changes the nodes of the snapshot that are being launched.
func (c *consolidator) inOrders(snap *model.Snapshot, pods []int32, numbers draw.Numbers, each func(pods, left []int32, moves []placed)) {
	for _, i := range c.projection.comingNodes {
		snap.Nodes[i] = c.asInitialized(snap.Nodes[i])
	}
	pods = slices.Concat(c.projection.movingPods, pods)
	moving := make([]bool, len(snap.Pods))
	for _, i := range pods {
		moving[i] = true
	}
	r := newCapacityIndex(c.projection.specIndex(), snap, moving)
	slices.SortStableFunc(pods, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.size(snap.Pods[a].Spec), r.size(snap.Pods[b].Spec)), cmp.Compare(snap.Pods[a].UID, snap.Pods[b].UID))
	})
	for range placementOrders {
		left, moves := r.placeLeastAllocated(pods)
		each(pods, left, moves)
		draw.Shuffle(&numbers, pods)
	}
}

// placedInOrders returns where the input's pods are in the order that leaves the fewest of them
// over; nil if what is launched for those left over costs more than usd in the mean over the
// orders, or if anything but requests, taints and node labels decides where pods may run.
// The orders are the same in each decision.
func (c *consolidator) placedInOrders(in *solver.Input, usd float64) *model.Plan {
	moving := make([]bool, len(in.Snapshot.Pods))
	for _, i := range in.Pods {
		moving[i] = true
	}
	if bySpec := c.bySpec(in.Pods); bySpec == nil || blockedByAntiAffinity(in.Snapshot, bySpec, moving) {
		return nil
	}
	plan, fewest := &model.Plan{}, len(in.Snapshot.Pods)+1
	p := &Proposal{Sim: &Simulation{Input: *in}}
	c.inOrders(in.Snapshot, in.Pods, 0, func(pods, left []int32, moves []placed) {
		p.unplaced = append(p.unplaced, left)
		if len(left) >= fewest {
			return
		}
		fewest, plan.Existing = len(left), nil
		placed := slices.DeleteFunc(slices.Clone(pods), func(i int32) bool { return slices.Contains(left, i) })
		for k, i := range placed {
			if moving[i] {
				plan.Existing = append(plan.Existing, model.Assignment{Node: moves[k].node, Pods: []int32{i}})
			}
		}
	})
	if fewest > 0 && c.meanRepair(p) >= usd {
		return nil
	}
	return plan
}

// redraw draws other orders from now on. Of many proposals the best is more likely than others
// to look better in the drawn orders than in the rest.
func (sc *Projection) redraw() {
	sc.redrawn++
	sc.repair = nil
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

// placeLeastAllocated assigns each pod to the least allocated node that admits it
// and returns the pods without a node, and where the others are, in their order. It undoes all
// assignments before it returns.
func (r *capacityIndex) placeLeastAllocated(pods []int32) (left []int32, moves []placed) {
	moves = make([]placed, 0, len(pods))
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
	return left, moves
}
