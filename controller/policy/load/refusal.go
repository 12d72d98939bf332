package load

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

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

// outline reads what it can of a broken policy: its hooks, mode, match and failure
// policy, which say what its failure affects. A policy.yaml that is not valid YAML,
// or names no hook, affects nothing; policies.required covers that case.
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
	info.Guards = info.Answers(policy.HookCeiling) // its refusals are not known
	return info
}
