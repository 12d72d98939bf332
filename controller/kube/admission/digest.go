package admission

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Digest returns the SHA-256, in hexadecimal, of a policy's spec as JSON with sorted keys. What
// the API server sets by default in matchConstraints is left out, so that the digest is that of the
// manifest, which the chart hands to the controller.
func Digest(spec *admissionv1.ValidatingAdmissionPolicySpec) (string, error) {
	spec = spec.DeepCopy()
	if m := spec.MatchConstraints; m != nil {
		m.NamespaceSelector, m.ObjectSelector = stated(m.NamespaceSelector), stated(m.ObjectSelector)
		if m.MatchPolicy != nil && *m.MatchPolicy == admissionv1.Equivalent {
			m.MatchPolicy = nil
		}
		for _, rules := range [][]admissionv1.NamedRuleWithOperations{m.ResourceRules, m.ExcludeResourceRules} {
			for i := range rules {
				if s := rules[i].Scope; s != nil && *s == admissionv1.AllScopes {
					rules[i].Scope = nil
				}
			}
		}
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return "", fmt.Errorf("encode the spec of an admission policy: %w", err)
	}
	var sorted map[string]any // encoding/json sorts the keys of maps, not those of structs
	if err := json.Unmarshal(text, &sorted); err != nil {
		return "", fmt.Errorf("decode the spec of an admission policy: %w", err)
	}
	if text, err = json.Marshal(sorted); err != nil {
		return "", fmt.Errorf("encode the spec of an admission policy: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// stated returns a selector, nil for one that selects everything.
func stated(s *metav1.LabelSelector) *metav1.LabelSelector {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return nil
	}
	return s
}
