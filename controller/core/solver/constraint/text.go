package constraint

import (
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// RequirementText identifies a requirement: equal for requirements with the same
// values in another order.
func RequirementText(r *model.Requirement) string { return string(appendRequirement(nil, r)) }

func appendRequirement(b []byte, r *model.Requirement) []byte {
	values := r.Values
	if !slices.IsSorted(values) {
		values = slices.Clone(values)
		slices.Sort(values)
	}
	b = append(strconv.AppendQuote(b, r.Key), ' ')
	b = append(b, r.Operator...)
	for _, v := range values {
		b = strconv.AppendQuote(append(b, ' '), v)
	}
	return b
}

// SelectorText identifies the node selector and required node affinity of a pod; ""
// for a pod without.
func SelectorText(s *model.PodSpec) string {
	if len(s.NodeSelector) == 0 && len(s.Affinity) == 0 {
		return ""
	}
	parts := make([]string, 0, len(s.NodeSelector))
	for k, v := range s.NodeSelector {
		parts = append(parts, strconv.Quote(k)+"="+strconv.Quote(v))
	}
	slices.Sort(parts)
	terms := make([]string, len(s.Affinity))
	for i, term := range s.Affinity {
		each := make([]string, len(term))
		for j := range term {
			each[j] = RequirementText(&term[j])
		}
		slices.Sort(each)
		terms[i] = strings.Join(each, "&")
	}
	slices.Sort(terms)
	return strings.Join(parts, "&") + "|" + strings.Join(terms, "|")
}

// TolerationText identifies a list of tolerations, in whatever order.
func TolerationText(tolerations []model.Toleration) string {
	if len(tolerations) == 0 {
		return ""
	}
	parts := make([]string, len(tolerations))
	for i := range tolerations {
		t := &tolerations[i]
		parts[i] = strings.Join([]string{
			strconv.Quote(t.Key), strconv.FormatBool(t.Exists), strconv.Quote(t.Value), string(t.Effect), string(t.Compare),
		}, " ")
	}
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
