package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/draw"
)

// Which nodes save together depends on the shapes of their pods and of the free capacity, which
// no order of the nodes shows. A search therefore also tries sets of nodes drawn at random, other
// ones each time, and starts of what it has found only the nodes that contribute.

// largestSet is the largest number of nodes of a random set.
const largestSet = 8

// denseNodes is up to how many nodes Effort.Sets are drawn. In a larger cluster they are fewer
// in proportion: two of its nodes seldom save anything together.
const denseNodes = 100

// randomSets draws sets of nodes by the snapshot's seed, as far as the budgets allow.
func (x *search) randomSets(open []Option) [][]int32 {
	if len(open) < 2 {
		return nil
	}
	open = slices.Clone(open)
	numbers := draw.Numbers(x.projection.snap.Seed)
	var out [][]int32
	for k := range x.effort.Sets * denseNodes / max(denseNodes, len(open)) {
		draw.Shuffle(&numbers, open)
		if set := x.prefix(open, 2+k%(largestSet-1)); len(set) > 1 {
			out = append(out, set)
		}
	}
	return out
}

// withoutIdle returns the proposal without the nodes that add nothing to its gain. It looks at
// proposals of at most largestSet nodes.
func (x *search) withoutIdle(p *Proposal) *Proposal {
	if len(p.Nodes) > largestSet {
		return p
	}
	for _, node := range slices.Clone(p.Nodes) {
		if len(p.Nodes) == 1 {
			break
		}
		rest := slices.DeleteFunc(slices.Clone(p.Nodes), func(i int32) bool { return i == node })
		q := x.projection.Consolidate(rest)
		if q != nil && q.Gain() >= p.Gain()*(1-roundingShare) && x.projection.balanced(q.Nodes, q.Saves()) {
			p = q
		}
	}
	return p
}
