package lower

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// TestContradiction: requirements that contradict each other or the template's labels are found,
// and those that some node can meet are not.
func TestContradiction(t *testing.T) {
	const key = "example.com/size"
	need := func(op corev1.NodeSelectorOperator, values ...string) karpv1.Requirement {
		return karpv1.Requirement{Key: key, Operator: op, Values: values}
	}
	for name, tc := range map[string]struct {
		reason string
		reqs   []karpv1.Requirement
		label  string
		want   string
	}{
		"none":       {reason: "a NodePool may require nothing"},
		"in":         {"one list", []karpv1.Requirement{need("In", "1", "2")}, "", ""},
		"overlap":    {"two lists with a common value", []karpv1.Requirement{need("In", "1", "2"), need("In", "2", "3")}, "", ""},
		"disjoint":   {"two lists without", []karpv1.Requirement{need("In", "1"), need("In", "2")}, "", "no value in common"},
		"not in":     {"all values are excluded", []karpv1.Requirement{need("In", "1", "2"), need("NotIn", "1", "2")}, "", "no value in common"},
		"some left":  {"one value is left", []karpv1.Requirement{need("In", "1", "2"), need("NotIn", "1")}, "", ""},
		"greater":    {"no value is great enough", []karpv1.Requirement{need("In", "1", "2"), need("Gt", "2")}, "", "no value in common"},
		"at least":   {"one value is just great enough", []karpv1.Requirement{need("In", "1", "2"), need("Gte", "2")}, "", ""},
		"less":       {"no value is small enough", []karpv1.Requirement{need("In", "2"), need("Lt", "2")}, "", "no value in common"},
		"at most":    {"a value is just small enough", []karpv1.Requirement{need("In", "2"), need("Lte", "2")}, "", ""},
		"no number":  {"a word is not greater than a number", []karpv1.Requirement{need("In", "large"), need("Gt", "2")}, "", "no value in common"},
		"absent":     {"a label that has to be and must not be there", []karpv1.Requirement{need("Exists"), need("DoesNotExist")}, "", "no value in common"},
		"not there":  {"a label that is not there is not in a list", []karpv1.Requirement{need("NotIn", "1"), need("DoesNotExist")}, "", ""},
		"label":      {"the template's label is not among the values", []karpv1.Requirement{need("In", "1")}, "2", "allows only"},
		"same label": {"the template's label is", []karpv1.Requirement{need("In", "1")}, "1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			pool := &karpv1.NodePool{}
			pool.Spec.Template.Spec.Requirements = tc.reqs
			if tc.label != "" {
				pool.Spec.Template.Metadata.Labels = map[string]string{key: tc.label}
			}
			if got := Contradiction(pool); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
