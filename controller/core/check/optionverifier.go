package check

import "spokeshave.dev/controller/core/model"

// OptionVerifier says as what else a planned node could have been launched. It is
// for one goroutine.
type OptionVerifier struct {
	proof  proof
	node   *model.PlannedNode
	pods   []*model.PodSpec
	podUse model.Resources
	picks  string
}

// NewOptionVerifier prepares to verify options for the pods of a planned node.
// Neither the snapshot nor the node may be changed afterwards.
func NewOptionVerifier(s *model.Snapshot, n *model.PlannedNode) *OptionVerifier {
	v := &OptionVerifier{proof: *newProof(s, nil, Constraints{}), node: n, picks: picksOf(n)}
	v.pods = v.proof.specsForPods(n.Pods)
	v.podUse = useOf(v.pods)
	return v
}

// Accepts says whether an option is for sale, is what the NodePool and the pods
// ask for, and has the resources for all of them. Pod topology, limits and
// ceilings are not looked at.
func (v *OptionVerifier) Accepts(o model.Option) bool {
	v.proof.violations = nil
	v.proof.proveOption("", v.node, v.picks, &o, v.pods, v.podUse)
	return len(v.proof.violations) == 0
}
