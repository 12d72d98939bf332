package load

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// APIVersion is the apiVersion of policy.yaml.
const APIVersion = "policy.spokeshave.dev/v1alpha1"

// manifest is policy.yaml. Unknown fields are errors.
type manifest struct {
	APIVersion string          `json:"apiVersion"`
	Hooks      []policy.Hook   `json:"hooks"`
	Engine     string          `json:"engine,omitempty"`
	Mode       policy.Mode     `json:"mode,omitempty"`
	Priority   int             `json:"priority,omitempty"`
	Match      match           `json:"match,omitzero"`
	Failure    string          `json:"failurePolicy,omitempty"`
	Limits     limits          `json:"limits,omitzero"`
	SHA256     string          `json:"sha256,omitempty"`
	Config     json.RawMessage `json:"config,omitempty"`
}

type match struct {
	NodePools []string              `json:"nodePools,omitempty"`
	Selector  *metav1.LabelSelector `json:"selector,omitempty"`
}

type limits struct {
	Fuel     *amount          `json:"fuel,omitempty"`
	Memory   *amount          `json:"memory,omitempty"`
	Deadline *metav1.Duration `json:"deadline,omitempty"`
}

// parseManifest reads policy.yaml. The error has a line for each problem, with its
// position and, where a word is probably misspelt, the right one.
func parseManifest(text []byte) (manifest, error) {
	var m manifest
	var p positions
	p.read(text)
	p.amounts("limits.fuel", "limits.memory")
	if err := errors.Join(p.problems...); err != nil {
		return m, err
	}
	if err := decodeStrict(text, &m); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && p.at[wrong.Field] != nil {
			p.problem(p.at[wrong.Field], wrong.Field, "want %s, not %s", kindOf(wrong.Type), wrong.Value)
			return m, p.problems[0]
		}
		return m, fmt.Errorf("policy.yaml: %w", err)
	}
	top := p.at[""]
	if m.APIVersion == "" {
		p.problem(top, "", "apiVersion is missing: this controller knows %s", APIVersion)
	}
	if len(m.Hooks) == 0 {
		p.problem(top, "", "hooks: name at least one of rank, consolidate, ceiling")
	}
	if m.Mode == "" {
		m.Mode = policy.Enforce
	}
	for _, pattern := range m.Match.NodePools {
		if noPattern(pattern) {
			p.problem(p.at["match.nodePools"], "match.nodePools", "%q is not a pattern", pattern)
		}
	}
	return m, errors.Join(p.problems...)
}

// noPattern reports whether a text can match no name, because it is no pattern.
func noPattern(text string) bool {
	_, err := path.Match(text, "")
	return err != nil
}

// kindOf names a type for authors.
func kindOf(t reflect.Type) string {
	kinds := map[reflect.Kind]string{reflect.Int: "a whole number", reflect.String: "a text", reflect.Slice: "a list"}
	if name, ok := kinds[t.Kind()]; ok {
		return name
	}
	return "a mapping"
}

// decodeStrict refuses unknown and repeated fields and fields in the wrong case. A
// misspelt failurePolicy, for example, would otherwise be ignored and the policy
// would fail open.
func decodeStrict(text []byte, m *manifest) error {
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	unknown, err := strictjson.UnmarshalStrict(asJSON, m)
	return errors.Join(append(unknown, err)...)
}

func (m *manifest) match() (policy.Match, error) {
	out := policy.Match{NodePools: m.Match.NodePools}
	if m.Match.Selector == nil {
		return out, nil
	}
	if _, err := metav1.LabelSelectorAsSelector(m.Match.Selector); err != nil {
		return out, fmt.Errorf("policy.yaml: match.selector: %w", err)
	}
	for key, value := range m.Match.Selector.MatchLabels {
		out.Selector = append(out.Selector, model.Requirement{Key: key, Operator: model.In, Values: []string{value}})
	}
	for _, e := range m.Match.Selector.MatchExpressions {
		out.Selector = append(out.Selector, model.Requirement{Key: e.Key, Operator: model.Operator(e.Operator), Values: e.Values})
	}
	return out, nil
}

func (l *limits) lower() (policy.Limits, error) {
	var out policy.Limits
	if l.Fuel != nil {
		out.Fuel = uint64(max(0, l.Fuel.Value()))
	}
	if l.Memory != nil {
		out.Memory = uint64(max(0, l.Memory.Value()))
	}
	if l.Deadline != nil {
		out.Deadline = l.Deadline.Duration
	}
	if l.Fuel != nil && out.Fuel == 0 || l.Memory != nil && out.Memory == 0 || l.Deadline != nil && out.Deadline < time.Millisecond {
		return out, errors.New("policy.yaml: limits: fuel and memory must be positive, deadline at least 1ms")
	}
	return out, nil
}
