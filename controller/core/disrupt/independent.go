package disrupt

import (
	"cmp"
	"slices"
)

// A search tries nodes together before it knows which of them belong together.
// What it finds may be several exchanges beside each other, of which one could
// fail without the others; and some of the nodes may be replaced by others that
// cost as much, for nothing.

// prospect is what a search keeps of a proposal, which holds a copy of the cluster: it
// is made again when its turn comes, beside what was begun by then.
type prospect struct {
	saves, score float64
	parts        []independentPart
}

func (sc *Scene) prospect(p *Proposal) *prospect {
	return &prospect{saves: p.Saves(), score: p.Score(), parts: sc.parts(p)}
}

// shares are the nodes of a proposal whose pods have nothing to do with each
// other's: those that save most apart, and from the most-th on the rest together.
// Nodes that save nothing by themselves are left out.
func (f *prospect) shares(most int) [][]int32 {
	parts := slices.DeleteFunc(slices.Clone(f.parts), func(x independentPart) bool { return x.saves() <= x.removed*roundingShare })
	slices.SortStableFunc(parts, func(a, b independentPart) int { return cmp.Compare(b.saves(), a.saves()) })
	var out [][]int32
	for i := range parts {
		if i < max(1, most) {
			out = append(out, parts[i].nodes)
		} else {
			out[len(out)-1] = append(out[len(out)-1], parts[i].nodes...)
		}
	}
	for _, nodes := range out {
		slices.Sort(nodes)
	}
	return out
}

// independentPart is a share of a proposal: nodes that go, and what their pods and no others
// go to.
type independentPart struct {
	nodes          []int32
	removed, added float64
}

func (x independentPart) saves() float64 { return x.removed - x.added }

// parts splits a proposal by where pods come from and go to, in the order of its
// nodes: nodes with a destination in common belong together.
func (sc *Scene) parts(p *Proposal) []independentPart {
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
	}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		if k := g.join(n.Pods); k >= 0 {
			out[k].added += n.Options[0].Effective + sc.snap.NodeCost(n.Pool).USD()
		}
	}
	return slices.DeleteFunc(out, func(x independentPart) bool { return len(x.nodes) == 0 })
}

// nodeGroups are the nodes of a proposal by what belongs together.
type nodeGroups struct {
	// from is by pod its node, of by node its group.
	from map[int32]int
	of   []int
}

// join makes one group of the nodes that some pods come from, and returns it; -1
// for none.
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
