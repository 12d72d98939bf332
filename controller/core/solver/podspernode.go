package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
)

// A node for many pods is hard to fill when many of the pods have rules for their
// node that packing does not consider. If their share is hostRuleShare or more,
// nodes get so few pods that on average hostRulePodsPerNode of them have rules. With
// 1.6, 2, 3 and 4 pods the cost of diverse spot plans was within 0.5 %, mostly higher
// (docs/measurements/solver.md). hostRuleShare has no measurement on record.
const (
	hostRuleShare       = 0.05
	hostRulePodsPerNode = 2.4
)

// podsPerNodeCap returns the most pods that a node should get, so that the pods of a
// packing can be assigned without violating rules that packing does not consider; 0
// for no cap. It is at least the size of the largest group of a bundle.
func podsPerNodeCap(p *problem) int32 {
	ruled, total, bundled := 0, 0, int32(0)
	for i := range p.classes {
		cl := &p.classes[i]
		total += len(cl.pods)
		bundled = max(bundled, cl.bundleSize)
		if cl.terms != nil && slices.ContainsFunc(cl.terms.HostRules, func(r constraint.Rule) bool { return r.Kind != constraint.Affinity && !p.topology.All[r.Group].Packed }) {
			ruled += len(cl.pods)
		}
	}
	if float64(ruled) < hostRuleShare*float64(total) || ruled == 0 {
		return 0
	}
	return max(bundled, int32(hostRulePodsPerNode*float64(total)/float64(ruled)))
}
