package disrupt

import "slices"

// A search tries nodes together before it knows which of them belong together.
// What it finds may replace a node by another that costs as much, beside
// exchanges that do save: pods would move for nothing, and the whole command would
// depend on it.

// needed is the proposal without the nodes whose pods have nothing to do with the
// others' and save nothing by themselves; the proposal itself when there are none,
// or when the rest is no better alone.
func (sc *Scene) needed(p *Proposal) *Proposal {
	if p == nil || len(p.Nodes) < 2 || len(p.Sim.Plan.Nodes) == 0 {
		return p
	}
	var rest []int32
	for _, part := range sc.parts(p) {
		if part.removed-part.added > part.removed*trivial {
			rest = append(rest, part.nodes...)
		}
	}
	if len(rest) == 0 || len(rest) == len(p.Nodes) {
		return p
	}
	slices.Sort(rest)
	if q := sc.Consolidate(rest); q != nil && q.Saves() >= p.Saves()*(1-trivial) {
		return q
	}
	return p
}

// part is a share of a proposal: nodes that go, and what their pods and no others
// go to.
type part struct {
	nodes          []int32
	removed, added float64
}

// parts splits a proposal by where pods come from and go to, in the order of its
// nodes: nodes with a destination in common belong together.
func (sc *Scene) parts(p *Proposal) []part {
	g := groups{from: map[int32]int{}, of: make([]int, len(p.Nodes))}
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
	out := make([]part, len(p.Nodes))
	for k, i := range p.Nodes {
		to := &out[g.of[k]]
		to.nodes = append(to.nodes, i)
		to.removed += sc.prices[i].effective
	}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		if k := g.join(n.Pods); k >= 0 {
			out[k].added += n.Options[0].Effective + sc.snap.NodeCost(n.Pool).USD()
		}
	}
	return slices.DeleteFunc(out, func(x part) bool { return len(x.nodes) == 0 })
}

// groups are the nodes of a proposal by what belongs together.
type groups struct {
	// from is by pod its node, of by node its group.
	from map[int32]int
	of   []int
}

// join makes one group of the nodes that some pods come from, and returns it; -1
// for none.
func (g *groups) join(pods []int32) int {
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

func (g *groups) merge(group, into int) {
	if group == into {
		return
	}
	for k := range g.of {
		if g.of[k] == group {
			g.of[k] = into
		}
	}
}
