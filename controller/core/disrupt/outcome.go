package disrupt

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"spokeshave.dev/controller/core/applied"
	"spokeshave.dev/controller/core/model"
)

// A proposal is worth what it saves once the scheduler has placed the pods. In some of the
// orders that it may take them in, pods find no node, and nodes are launched for them. Their
// cost, in the mean over the tried orders, is the proposal's repair.

// expectRepair sets the proposal's repair; see Proposal.Repair. It is infinite when a pod finds no
// node in one of the orders and none can be launched for it.
func (c *consolidator) expectRepair(p *Proposal) {
	before := c.projection.repairNow()
	p.Repair = 0
	switch mean := c.meanRepair(p); {
	case math.IsInf(mean, 1):
		p.Repair = mean
	case mean > before:
		p.Repair = mean - before
	}
}

// worksOut sets the proposal's repair and reports whether the proposal pays with it. A node that
// was launched for pods that had to move goes only if no order leaves a pod over. That is why a
// cluster comes to rest while its load does not change: each proposal that leaves pods over
// lowers the price of all nodes but those, which nothing raises.
func (c *consolidator) worksOut(p *Proposal) bool {
	c.expectRepair(p)
	return pays(p) && (len(c.unplacedInSomeOrder(p)) == 0 || !c.projection.snap.ForMoved(p.Nodes))
}

// fitsOnceReady reports whether the pods all find a place once the replacements are nodes, as
// Fits asks before the nodes go. A plan may pack them in a way that is not found again.
func (c *consolidator) fitsOnceReady(p *Proposal) bool {
	ready := *c.projection
	ready.snap.Nodes = slices.Clone(ready.snap.Nodes)
	var replacements []int32
	for i := range p.Sim.Plan.Nodes {
		at := len(ready.snap.Nodes)
		replacements = append(replacements, int32(at))
		ready.snap.Nodes = append(ready.snap.Nodes, c.asInitialized(ready.types.Node(&p.Sim.Plan.Nodes[i], at)))
	}
	sim := ready.fits(p.Nodes, replacements, p.Saves())
	c.projection.Solves = ready.Solves
	return len(sim.Plan.Unplaced) == 0
}

// repairNow returns the repair of the projection without a further proposal: accepted proposals
// and pods that wait for the scheduler may need nodes in some orders already.
func (sc *Projection) repairNow() float64 {
	if len(sc.movingPods) == 0 {
		return 0
	}
	if sc.repair == nil {
		mean := (&consolidator{sc}).meanRepair(&Proposal{Sim: &Simulation{Input: *sc.inputWithout(nil)}})
		sc.repair = &mean
	}
	return *sc.repair
}

// meanRepair returns what the nodes cost that are launched for pods without one, in the mean
// over the tried orders, in USD/hour.
func (c *consolidator) meanRepair(p *Proposal) float64 {
	orders := c.unplacedByOrder(p)
	known := map[string]float64{} // by the specs of the pods
	sum := 0.0
	for _, left := range orders {
		if len(left) == 0 {
			continue
		}
		key := c.specsOf(left)
		cost, ok := known[key]
		if !ok {
			cost = c.costOfNodesFor(p, left)
			known[key] = cost
		}
		sum += cost
	}
	return sum / float64(max(1, len(orders)))
}

// specsOf returns a text that is the same for pods of the same specs.
func (c *consolidator) specsOf(pods []int32) string {
	specs := make([]int32, len(pods))
	for k, i := range pods {
		specs[k] = c.projection.snap.Pods[i].Spec
	}
	slices.Sort(specs)
	return fmt.Sprint(specs)
}

// costOfNodesFor returns the effective cost of new nodes for the pods alone, beside the nodes
// that the proposal launches; infinite when they cannot be launched within limits and caps.
// Pods that need others near them count as unlaunchable.
func (c *consolidator) costOfNodesFor(p *Proposal, pods []int32) float64 {
	sc := c.projection
	snap := sc.snap
	snap.Nodes, snap.Pods, snap.Pools = nil, make([]model.Pod, len(pods)), slices.Clone(p.Sim.Input.Snapshot.Pools)
	for i := range p.Sim.Plan.Nodes {
		n := sc.types.Node(&p.Sim.Plan.Nodes[i], i)
		sc.types.AddUsage(snap.Pools, &n)
	}
	in := sc.In
	in.Snapshot, in.Pods, in.Effort = &snap, make([]int32, len(pods)), 0
	in.Headroom = applied.Headroom(p.Sim.Input.Headroom, &sc.snap, p.Sim.Plan.Nodes)
	for k, i := range pods {
		snap.Pods[k], in.Pods[k] = sc.snap.Pods[i], int32(k)
		snap.Pods[k].Node = -1
	}
	plan := sc.solve(&in).Plan
	if len(plan.Unplaced) > 0 {
		return math.Inf(1)
	}
	sum := 0.0
	for i := range plan.Nodes {
		sum += plan.Nodes[i].Options[0].Effective + snap.NodeCost(plan.Nodes[i].Pool).USD()
	}
	return sum
}

// soundShare is the share of the largest gain from which on a variant without repair comes before
// all with repair: until what is launched for the pods left over is ready, they wait.
const soundShare = 0.95

// best returns the variant of the proposal with the largest gain, or nil and why none of them
// may be proposed. Variants with repair are left out if another gains nearly as much (soundShare).
func (c *consolidator) best(p *Proposal) (*Proposal, Finding) {
	why := c.tooLittle(p)
	var sound, waiting []*Proposal
	for k, v := range c.variants(p) {
		switch no := c.rejection(v); {
		case no != Finding{} && k == 0:
			why = no
		case no != Finding{}:
		case v.Repair > 0:
			waiting = append(waiting, v)
		default:
			sound = append(sound, v)
		}
	}
	all := choices(sound, waiting)
	if len(all) == 0 {
		return nil, why
	}
	for _, v := range all[1:] {
		c.addFallback(all[0], v)
	}
	return all[0], Finding{}
}

// choices returns the variants to choose among, the largest gain first: those without repair, and
// those with repair if they gain more (soundShare).
func choices(sound, waiting []*Proposal) []*Proposal {
	byGain := func(a, b *Proposal) int { return cmp.Compare(b.Gain(), a.Gain()) }
	slices.SortStableFunc(sound, byGain)
	slices.SortStableFunc(waiting, byGain)
	if len(waiting) == 0 || len(sound) > 0 && sound[0].Gain() >= soundShare*waiting[0].Gain() {
		return sound
	}
	all := slices.Concat(sound, waiting)
	slices.SortStableFunc(all, byGain)
	return all
}

// variants returns the proposal and the same with each remaining node filled evenly. Of those
// that work only with a tight packing it also returns variants with more nodes and with larger
// ones. All of them pay if no pod is left without a node.
func (c *consolidator) variants(p *Proposal) []*Proposal {
	var out []*Proposal
	even := c.balancedFill(p) // computed first, since a rejection may change p's question
	for _, v := range []*Proposal{p, even} {
		if !pays(v) {
			continue
		}
		out = append(out, v)
		if left := c.unplacedInSomeOrder(v); len(left) > 0 {
			for _, w := range []*Proposal{c.withRoomForAnyOrder(v, left), c.withLargeNodesOnly(v)} {
				if pays(w) {
					out = append(out, w)
				}
			}
		}
	}
	return out
}
