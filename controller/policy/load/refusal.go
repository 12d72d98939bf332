package load

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/core/policy"
)

// refusal stands in for a policy that has no good version. It faults whenever
// it is asked, so that the failure policy of each hook applies: a budget that
// does not load stops launches, it is not a missing budget.
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

// outline reads what can be read of a broken policy: enough to know whom its
// failure concerns. A policy.yaml that is no YAML, or names no hook, concerns
// nobody; policies.required is for that.
func (l *Loader) outline(cm *corev1.ConfigMap) policy.Info {
	info := policy.Info{Namespace: cm.Namespace, Name: cm.Name, Mode: policy.Enforce}
	var m manifest
	if yaml.Unmarshal([]byte(cm.Data[manifestFile]), &m) != nil {
		return info
	}
	for _, h := range []policy.Hook{policy.HookRank, policy.HookConsolidate, policy.HookCeiling} {
		plugin := cm.Namespace != l.cfg.Namespace
		if slices.Contains(m.Hooks, h) && (h != policy.HookCeiling || !plugin) {
			info.Hooks = append(info.Hooks, h)
		}
	}
	if m.Mode == policy.Shadow {
		info.Mode = policy.Shadow
	}
	if f := policy.FailurePolicy(m.Failure); f == policy.Fail || f == policy.Ignore {
		info.Failure = f
	}
	if match, err := m.match(); err == nil {
		info.Match = match
	}
	info.Priority, info.Engine = m.Priority, m.Engine
	info.Guards = info.Answers(policy.HookCeiling) // what it would refuse is not known
	return info
}
