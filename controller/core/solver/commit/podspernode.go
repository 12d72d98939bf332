package commit

import (
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
)

// A node for many pods is hard to fill when many of the pods have rules for their
// node that packing does not consider. If their share is hostRuleShare or more,
// nodes get so few pods that on average hostRulePodsPerNode of them have rules. With
// 1.6, 2, 3 and 4 pods the cost of diverse spot plans was within 0.5 %, mostly higher
// (docs/measurements/solver.md). hostRuleShare of 0.02 and 0.1
// change no plan.
const (
	hostRuleShare       = 0.05
	hostRulePodsPerNode = 2.4
)

// podsPerNodeCap returns the most pods that a node should get, so that the pods of a
// packing can be assigned without violating rules that packing does not consider; 0
// for no cap. It is at least the size of the largest group of a bundle.
func podsPerNodeCap(p *problem.Problem) int32 {
	ruled, total, bundled := 0, 0, int32(0)
	for i := range p.Classes {
		cl := &p.Classes[i]
		total += len(cl.Pods)
		bundled = max(bundled, cl.BundleSize)
		if cl.Terms != nil && slices.ContainsFunc(cl.Terms.HostRules, func(r constraint.Rule) bool { return r.Kind != constraint.Affinity && !p.Topology.All[r.Group].Packed }) {
			ruled += len(cl.Pods)
		}
	}
	if float64(ruled) < hostRuleShare*float64(total) || ruled == 0 {
		return 0
	}
	return max(bundled, int32(hostRulePodsPerNode*float64(total)/float64(ruled)))
}
