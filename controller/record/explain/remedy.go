package explain

import (
	"fmt"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// change returns what would have to change for a reason, when that does not depend on
// figures.
func change(code model.ReasonCode) string {
	switch code {
	case model.NoPools:
		return "create a NodePool"
	case model.PoolNotReady:
		return "make the NodePool and its node class ready: their conditions say what is wrong"
	case model.TaintNotTolerated:
		return "a toleration on the pod, or no such taint on the NodePool"
	case model.RequirementsConflict:
		return "another selector or affinity of the pod, or other requirements or labels of the NodePool"
	case model.NoInstanceType:
		return "another selector or affinity of the pod: nothing that EC2 sells there meets it"
	case model.TooLarge:
		return "smaller requests, or requirements of the NodePool that allow larger instance types"
	case model.NoCapacity:
		return "more instance types, zones or capacity types in the NodePool; what is sold out is tried again by itself"
	case model.LimitReached:
		return "a higher limit of the NodePool, or fewer nodes in it"
	case model.LaunchDenied:
		return "the policy that denies the launch"
	case model.RankExcluded:
		return "the policy that drops the offerings, or requirements of the NodePool that allow others"
	case model.PolicyUnavailable:
		return "the policy must answer again, or be made to fail open: spokeshave policy list says what is wrong"
	case model.TopologySpread:
		return "a larger maxSkew, ScheduleAnyway, or NodePools that reach more domains"
	case model.PodAffinity:
		return "the pods that its affinity selects must run where a node can be launched"
	case model.PodAntiAffinity:
		return "more domains, or fewer pods that keep each other away"
	case model.MinValues:
		return "lower minValues of the NodePool, requirements that allow more, or settings.minValuesPolicy=BestEffort"
	case model.Unsupported:
		return "a pod without what this version does not plan for"
	case model.NotProven:
		return "a mended Spokeshave: report it, with what spokeshave failures prints"
	case model.HeldBack:
		return "what the message names; the pod is tried again by itself"
	case model.WaitsForRollout:
		return "nothing; --batch-rollout-duration says how long it may take, and 0 that nothing waits"
	case model.CeilingReached:
		return "a higher cap, or less spend under it"
	}
	return ""
}

// Remedy returns what would have to change for a pod that waits for a reason to be
// placed. headroom is what was left under the caps when the reason was found.
func Remedy(r *model.Reason, headroom []decide.CapStatus) string {
	if r.Code != model.CeilingReached || r.Scope == "" || r.Short <= 0 {
		return change(r.Code)
	}
	for i := range headroom {
		h := &headroom[i]
		if h.Policy == r.Policy && h.Scope == r.Scope && h.Period == decide.PerHour {
			return fmt.Sprintf("policy %s would have to cap %s at %s $/h or more, or %s $/h be freed there", r.Policy, r.Scope, model.PriceOf(h.Limit)+r.Short, r.Short)
		}
	}
	return fmt.Sprintf("policy %s would have to leave %s $/h more on %s, or that much be freed there", r.Policy, r.Short, r.Scope)
}
