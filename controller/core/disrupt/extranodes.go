package disrupt

import (
	"maps"
	"slices"

	"spokeshave.dev/controller/core/applied"
	"spokeshave.dev/controller/core/model"
)

// maxWidenings is how many times nodes are added to a plan that packs too tightly.
const maxWidenings = 3

// withRoomForAnyOrder adds nodes to the proposal until the pods fit in every tried
// order. It returns nil when the result does not pay.
func (c *consolidator) withRoomForAnyOrder(p *Proposal, left []int32) *Proposal {
	for range maxWidenings {
		if p = c.withExtraNodes(p, left); !pays(p) {
			return nil
		}
		if left = c.unplacedInSomeOrder(p); len(left) == 0 {
			return p
		}
	}
	return nil
}

// withLargeNodesOnly returns a variant of the proposal whose new nodes are each
// large enough for all the pods that need new nodes. The scheduler can then place
// these pods on the new nodes in any order. Where only one node is new, it is large enough
// for all the pods that move, since any of them may come to it. It returns nil when there is
// no such variant that pays.
func (c *consolidator) withLargeNodesOnly(p *Proposal) *Proposal {
	snap, plan := &c.projection.snap, &p.Sim.Plan
	var pods []int32
	for i := range plan.Nodes {
		pods = append(pods, plan.Nodes[i].Pods...)
	}
	switch len(plan.Nodes) {
	case 0:
		return nil
	case 1:
		pods = p.Sim.Input.Pods
	}
	sum := model.Resources{}
	for _, pod := range pods {
		sum.Add(snap.Specs[snap.Pods[pod].Spec].Requests)
	}
	in := p.Sim.Input
	in.Denied = slices.Clone(in.Denied)
	large := false
	for i := range snap.Pools {
		if at := snap.Pools[i].Catalog; at >= 0 {
			denied := tooSmall(int32(i), &snap.Catalogs[at], sum)
			large = large || len(denied) < len(snap.Catalogs[at].Types)
			in.Denied = append(in.Denied, denied...)
		}
	}
	if !large {
		return nil
	}
	out := c.projection.propose(p.Method, p.Nodes, c.projection.solve(&in))
	if len(out.Sim.Plan.Unplaced) > 0 || !pays(out) {
		return nil
	}
	if left := c.unplacedInSomeOrder(out); len(left) > 0 {
		return c.withRoomForAnyOrder(out, left)
	}
	return out
}

// tooSmall returns denials for the instance types that cannot hold the given sum.
func tooSmall(pool int32, catalog *model.Catalog, sum model.Resources) []model.Denied {
	var out []model.Denied
	for t := range catalog.Types {
		for name, n := range sum {
			if n > catalog.Types[t].Allocatable[name] {
				out = append(out, model.Denied{Pool: pool, InstanceType: catalog.Types[t].Name, Reason: "too small for all the pods that move"})
				break
			}
		}
	}
	return out
}

// withExtraNodes returns the proposal with additional new nodes for those of its own
// pods that are in left; nil when no node can be launched for them.
func (c *consolidator) withExtraNodes(p *Proposal, left []int32) *Proposal {
	own := map[int32]bool{}
	for _, i := range p.Sim.Input.Pods {
		own[i] = true
	}
	apart := map[int32]bool{}
	for _, i := range left {
		if own[i] {
			apart[i] = true
		}
	}
	if len(apart) == 0 {
		return nil
	}
	return c.withNewNodesFor(p, c.planWithout(&p.Sim.Plan, apart), slices.Sorted(maps.Keys(apart)))
}

// withNewNodesFor returns the proposal with the given partial plan and new nodes for
// the pods in left; nil when no node can be launched for them.
func (c *consolidator) withNewNodesFor(p *Proposal, plan *model.Plan, left []int32) *Proposal {
	in := p.Sim.Input
	snap := c.projection.types.Snapshot(in.Snapshot, plan)
	for i := range snap.Nodes {
		addNoMoveTaint(&snap.Nodes[i])
	}
	in.Snapshot, in.Pods = snap, left
	in.Headroom = applied.Headroom(in.Headroom, &c.projection.snap, plan.Nodes)
	more := c.projection.solve(&in)
	if len(more.Plan.Unplaced) > 0 || len(more.Plan.Existing) > 0 {
		return nil
	}
	plan.Nodes = append(plan.Nodes, more.Plan.Nodes...)
	return c.projection.propose(p.Method, p.Nodes, &Simulation{Input: p.Sim.Input, Plan: *plan, Widened: true})
}

// planWithout returns the plan without the given pods and without the new nodes that
// are then unused.
func (c *consolidator) planWithout(plan *model.Plan, pods map[int32]bool) *model.Plan {
	gone := func(i int32) bool { return pods[i] }
	out := &model.Plan{Unplaced: plan.Unplaced}
	for _, a := range plan.Existing {
		if a.Pods = slices.DeleteFunc(slices.Clone(a.Pods), gone); len(a.Pods) > 0 {
			out.Existing = append(out.Existing, a)
		}
	}
	for _, n := range plan.Nodes {
		before := n.Pods
		if n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), gone); len(n.Pods) == 0 {
			continue
		}
		n.Requests = n.Requests.Clone()
		for _, i := range before {
			if pods[i] {
				for name, amount := range c.projection.snap.Specs[c.projection.snap.Pods[i].Spec].Requests {
					n.Requests[name] -= amount
				}
			}
		}
		out.Nodes = append(out.Nodes, n)
	}
	return out
}
