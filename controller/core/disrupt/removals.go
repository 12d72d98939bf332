package disrupt

import "slices"

// findRemovals finds nodes that can be removed together without replacement: the
// nodes whose pods fit elsewhere by the estimate, as far as the solver confirms it.
func (x *search) findRemovals(open []Option, tries int) *Proposal {
	r := x.projection.capacity()
	budget := slices.Clone(x.left)
	for i := range x.projection.survey.s.Nodes {
		if x.projection.survey.settling(&x.projection.snap.Nodes[i]) {
			r.exclude(int32(i))
		}
	}
	takes := make([]bool, len(x.projection.snap.Nodes))
	var likely []int32
	for i := range open {
		o := &open[i]
		pool := x.projection.snap.Nodes[o.Node].Pool
		if !x.projection.balanced([]int32{o.Node}, o.price) {
			x.projection.record([]int32{o.Node}, SavingTooSmall, unworthy(o.price))
			continue
		}
		if x.projection.survey.MoveCost(o.Node) >= o.price*(1-roundingShare) {
			x.projection.record([]int32{o.Node}, SavingTooSmall, x.projection.survey.notWorthMoving("at most ", o.price, []int32{o.Node}))
			continue
		}
		if budget[pool] <= 0 || takes[o.Node] {
			continue
		}
		r.exclude(o.Node)
		moves, lost := r.placeBestFit(x.projection.survey.moving[o.Node])
		if len(lost) > 0 {
			r.undo(moves)
			r.include(o.Node)
			continue
		}
		for _, m := range moves {
			takes[m.node] = true
		}
		budget[pool]--
		likely = append(likely, o.Node)
	}
	return x.provenRemovals(likely, tries)
}

// removal proposes to consolidate the nodes without launching any; nil when their pods do
// not all fit on the other nodes, or when a plan for them that may launch nodes does so, for
// preferences that they would otherwise give up: what provisioning launches for a preference
// is not removed again.
func (x *search) removal(nodes []int32) *Proposal {
	sc := x.projection
	in := withoutLaunches(sc.inputWithout(nodes))
	sc.survey.avoidSettling(in)
	sim := sc.solve(in)
	if sim.Waived > 0 && len(sim.Plan.Unplaced) == 0 {
		sim = sc.Without(Underutilized, nodes)
	}
	if len(sim.Plan.Nodes)+len(sim.Plan.Unplaced) > 0 {
		return nil
	}
	return sc.propose(Underutilized, nodes, sim)
}

// provenRemovals returns the removal of those nodes that the solver confirms
// together. It halves a set that the solver rejects, and spends at most the given
// simulations.
func (x *search) provenRemovals(likely []int32, tries int) *Proposal {
	var best *Proposal
	var kept []int32
	work := [][]int32{likely}
	for len(work) > 0 && tries > 0 {
		part := work[len(work)-1]
		work = work[:len(work)-1]
		if len(part) == 0 {
			continue
		}
		tries--
		if p := x.removal(slices.Concat(kept, part)); p != nil && x.consolidator().worksOut(p) {
			best, kept = p, p.Nodes
			continue
		}
		if len(part) > 1 {
			work = append(work, part[len(part)/2:], part[:len(part)/2])
		}
	}
	return best
}
