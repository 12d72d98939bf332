package simulate

import (
	"context"
	"fmt"
	"slices"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/rehearse/scenario"
)

// plannedClaim is a NodeClaim that somebody wrote, and the decision about it.
type plannedClaim struct {
	claim    *karpv1.NodeClaim
	snapshot model.Snapshot
	decision decide.Decision
}

// planClaims decides, as the controller does, about each claim that no decision made, the
// oldest first. What a launch reserves is written into s and counts in the decisions after
// it.
func planClaims(ctx context.Context, o *scenario.Objects, s *model.Snapshot, policies []policy.Policy) ([]plannedClaim, error) {
	claims := o.Unplanned()
	slices.SortFunc(claims, lower.ByAge)
	var out []plannedClaim
	for _, claim := range claims {
		one := plannedClaim{claim: claim, snapshot: lower.ForClaim(s, claim, o.ClassProblem(claim))}
		var err error
		if one.decision, err = decide.Decide(ctx, &one.snapshot, policies, decide.Options{}); err != nil {
			return nil, fmt.Errorf("decide about NodeClaim %s: %w", claim.Name, err)
		}
		if len(one.decision.Plan.Nodes) == 1 {
			for i := range s.Nodes {
				if n := &s.Nodes[i]; n.Claim == claim.Name {
					n.Reserved = one.decision.Plan.Nodes[0].Worst() + n.Extra
				}
			}
		}
		out = append(out, one)
	}
	return out, nil
}
