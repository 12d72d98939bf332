package disrupt

import (
	"cmp"
	"slices"
)

// A search combines nodes before it knows which of them depend on each other. A
// proposal may therefore consist of several independent replacements, of which one
// could fail without the others. It may also replace some nodes by others of the
// same cost, without any saving.

// prospect is the summary of a proposal that a search keeps. The proposal itself
// holds a copy of the cluster; it is computed again when it is started, in the projection
// with everything that was started before.
type prospect struct {
	gain, score float64
	parts       []independentPart
}

func (x *search) prospect(p *Proposal) *prospect {
	return &prospect{gain: p.Gain(), score: p.Score(), parts: x.independentParts(p)}
}

// partsByGain returns the nodes of each independent part, those with the largest gain
// first. From the most-th part on, the rest are joined into one. Parts that gain
// nothing are left out. Where rank policies count what runs, the rest is left out as well:
// there, what a node is worth depends on the others that go with it.
func (f *prospect) partsByGain(most int, counted bool) [][]int32 {
	parts := slices.DeleteFunc(slices.Clone(f.parts), func(x independentPart) bool { return x.gain() <= x.removed*roundingShare })
	slices.SortStableFunc(parts, func(a, b independentPart) int { return cmp.Compare(b.gain(), a.gain()) })
	var out [][]int32
	for i := range parts {
		switch {
		case i < max(1, most):
			out = append(out, parts[i].nodes)
		case !counted:
			out[len(out)-1] = append(out[len(out)-1], parts[i].nodes...)
		}
	}
	for _, nodes := range out {
		slices.Sort(nodes)
	}
	return out
}

// independentPart is a part of a proposal: nodes to remove and the destinations that
// only their pods go to. removed and added are effective costs and moves what the moves
// have to save, all in USD/hour.
type independentPart struct {
	nodes                 []int32
	removed, added, moves float64
}

func (x independentPart) gain() float64 { return x.removed - x.added - x.moves }

// independentParts splits a proposal into independent parts, in the order of its nodes.
// Nodes whose pods share a destination are in one part.
func (x *search) independentParts(p *Proposal) []independentPart {
	sc := x.projection
	g := nodeGroups{from: map[int32]int{}, of: make([]int, len(p.Nodes))}
	for k, i := range p.Nodes {
		g.of[k] = k
		for _, pod := range sc.survey.moving[i] {
			g.from[pod] = k
		}
	}
	plan := &p.Sim.Plan
	for i := range plan.Existing {
		g.join(plan.Existing[i].Pods)
	}
	for i := range plan.Nodes {
		g.join(plan.Nodes[i].Pods)
	}
	out := make([]independentPart, len(p.Nodes))
	for k, i := range p.Nodes {
		to := &out[g.of[k]]
		to.nodes = append(to.nodes, i)
		to.removed += sc.prices[i].effective
		to.moves += sc.survey.MoveCost(i)
	}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		if k := g.join(n.Pods); k >= 0 {
			out[k].added += n.Options[0].Effective + sc.snap.NodeCost(n.Pool).USD()
		}
	}
	return slices.DeleteFunc(out, func(x independentPart) bool { return len(x.nodes) == 0 })
}

// nodeGroups joins the nodes of a proposal into groups.
type nodeGroups struct {
	// from is by pod the index of its node in the proposal, of by node its group.
	from map[int32]int
	of   []int
}

// join merges the groups of the nodes that the pods come from, and returns the
// merged group; -1 when none of the pods comes from a node of the proposal.
func (g *nodeGroups) join(pods []int32) int {
	first := -1
	for _, pod := range pods {
		k, moves := g.from[pod]
		if !moves {
			continue
		}
		if first < 0 {
			first = g.of[k]
		}
		g.merge(g.of[k], first)
	}
	return first
}

func (g *nodeGroups) merge(group, into int) {
	if group == into {
		return
	}
	for k := range g.of {
		if g.of[k] == group {
			g.of[k] = into
		}
	}
}
