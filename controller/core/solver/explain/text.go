package explain

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// Amount writes an amount of a resource the way manifests do. CPU is in
// millicores, memory and ephemeral storage in bytes, everything else in pieces.
func Amount(name string, n int64) string {
	switch name {
	case model.CPU:
		return strconv.FormatFloat(float64(n)/1000, 'f', -1, 64) + " cpu"
	case model.Memory, model.EphemeralStorage:
		return strconv.FormatFloat(math.Round(float64(n)/(1<<30)*100)/100, 'f', -1, 64) + "Gi " + name
	case model.NodeCount:
		return strconv.FormatInt(n, 10) + " nodes"
	}
	return strconv.FormatInt(n, 10) + " " + name
}

func taintText(t *model.Taint) string {
	if t.Value == "" {
		return t.Key + ":" + string(t.Effect)
	}
	return t.Key + "=" + t.Value + ":" + string(t.Effect)
}

// selectionText writes a pod's node selector and node affinity for people.
func selectionText(s *model.PodSpec) string {
	parts := make([]string, 0, len(s.NodeSelector))
	for k, v := range s.NodeSelector {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	terms := make([]string, len(s.Affinity))
	for i, term := range s.Affinity {
		each := make([]string, len(term))
		for j := range term {
			each[j] = requirementText(&term[j])
		}
		terms[i] = strings.Join(each, " and ")
	}
	slices.Sort(terms)
	if len(terms) > 0 {
		parts = append(parts, strings.Join(terms, " or "))
	}
	return strings.Join(parts, ", ")
}

func requirementText(r *model.Requirement) string {
	switch {
	case r.Operator == model.In && len(r.Values) == 1:
		return r.Key + "=" + r.Values[0]
	case len(r.Values) == 0:
		return r.Key + " " + string(r.Operator)
	}
	return r.Key + " " + string(r.Operator) + " [" + strings.Join(r.Values, ", ") + "]"
}
