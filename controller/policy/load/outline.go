package load

import (
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/core/spelling"
)

// outline returns what is known of a policy that cannot be loaded: its hooks, mode,
// match and failure policy, which say what its failure affects. Every field of
// policy.yaml is read on its own, so that a mistake in one does not hide another.
//
// When the hooks cannot be read, the policy counts as one with every hook if it is in
// the controller's namespace, because it may be a ceiling. In another namespace, where
// it cannot be a ceiling, it affects nothing.
func (l *Loader) outline(cm *corev1.ConfigMap) policy.Info {
	info := policy.Info{Namespace: cm.Namespace, Name: cm.Name, Mode: policy.Enforce}
	own := cm.Namespace == l.cfg.Namespace
	fields := manifestFields(filesOf(cm)[manifestFile])
	hooks, readable := hooksIn(fields["hooks"])
	for _, h := range allHooks() {
		if h == policy.HookCeiling && !own {
			continue
		}
		if slices.Contains(hooks, h) || !readable && own {
			info.Hooks = append(info.Hooks, h)
		}
	}
	if mode := policy.Mode(""); field(fields["mode"], &mode) && mode == policy.Shadow {
		info.Mode = policy.Shadow
	}
	if f := policy.FailurePolicy(""); field(fields["failurePolicy"], &f) {
		info.Failure = meantFailure(f)
	}
	var m manifest
	if field(fields["match"], &m.Match) && !slices.ContainsFunc(m.Match.NodePools, noPattern) { // else every NodePool
		if match, err := m.match(); err == nil {
			info.Match = match
		}
	}
	field(fields["priority"], &info.Priority)
	field(fields["engine"], &info.Engine)
	l.cfg.confineFailure(&info)
	info.Guards = info.Answers(policy.HookCeiling) // its refusals are not known
	return info
}

// meantFailure returns what a manifest says that failures do: "" for the hook's default. A
// misspelt Fail is taken as such. A misspelt Ignore is not: it would let through what the
// default stops.
func meantFailure(f policy.FailurePolicy) policy.FailurePolicy {
	if f == policy.Ignore {
		return f
	}
	if spelling.Distance(strings.ToLower(string(f)), strings.ToLower(string(policy.Fail))) <= 1 {
		return policy.Fail
	}
	return ""
}

func allHooks() []policy.Hook {
	return []policy.Hook{policy.HookRank, policy.HookConsolidate, policy.HookCeiling}
}

// manifestFields returns the top-level fields of a policy.yaml as JSON. It returns none
// when the text is no YAML mapping, or when a key occurs twice: then it is not known
// which value the author meant.
func manifestFields(text []byte) map[string]json.RawMessage {
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil
	}
	var out map[string]json.RawMessage
	if json.Unmarshal(asJSON, &out) != nil {
		return nil
	}
	return out
}

// hooksIn returns the hooks in a field that is a list or, by mistake, a single word.
// readable is false when it names anything else than hooks, or nothing.
func hooksIn(text json.RawMessage) (hooks []policy.Hook, readable bool) {
	if !field(text, &hooks) {
		var one policy.Hook
		if !field(text, &one) {
			return nil, false
		}
		hooks = []policy.Hook{one}
	}
	unknown := slices.ContainsFunc(hooks, func(h policy.Hook) bool { return !slices.Contains(allHooks(), h) })
	return hooks, len(hooks) > 0 && !unknown
}

// field decodes one field, and reports whether it is there and has the right type. When
// it does not, out is not changed.
func field[T any](text json.RawMessage, out *T) bool {
	var v T
	if len(text) == 0 || json.Unmarshal(text, &v) != nil {
		return false
	}
	*out = v
	return true
}
