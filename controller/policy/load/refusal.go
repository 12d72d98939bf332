package load

import (
	"context"

	"spokeshave.dev/controller/core/policy"
)

// refusal is used for a policy that has no good version. Every call returns a fault,
// so that the failure policy of each hook applies: a budget that does not load stops
// launches and does not count as absent.
type refusal struct {
	info   policy.Info
	reason string
}

func (r refusal) Info() policy.Info { return r.info }

func (r refusal) fault() error {
	return &policy.Fault{Kind: policy.FaultInternal, Message: "no version of the policy loads: " + r.reason}
}

// Rank implements policy.Policy.
func (r refusal) Rank(context.Context, *policy.RankInput) ([]policy.RankAnswer, error) {
	return nil, r.fault()
}

// Consolidate implements policy.Policy.
func (r refusal) Consolidate(context.Context, *policy.ConsolidateInput) ([]policy.ConsolidateAnswer, error) {
	return nil, r.fault()
}

// Ceiling implements policy.Policy.
func (r refusal) Ceiling(context.Context, *policy.CeilingInput) (policy.CeilingAnswer, error) {
	return policy.CeilingAnswer{}, r.fault()
}
