package lower

import (
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/model"
)

// requirementsOf lowers a label selector. The labels of matchLabels come first, sorted by
// key. nothing reports that the selector is absent: an absent selector selects no pod,
// while an empty one selects all.
func requirementsOf(sel *metav1.LabelSelector) (out []model.Requirement, nothing bool) {
	if sel == nil {
		return nil, true
	}
	for _, key := range slices.Sorted(maps.Keys(sel.MatchLabels)) {
		out = append(out, model.Requirement{Key: key, Operator: model.In, Values: []string{sel.MatchLabels[key]}})
	}
	for i := range sel.MatchExpressions {
		e := &sel.MatchExpressions[i]
		out = append(out, model.Requirement{Key: e.Key, Operator: model.Operator(e.Operator), Values: e.Values})
	}
	return out, false
}

// mergeLabelKeys adds the requirements of matchLabelKeys or mismatchLabelKeys, with the values
// of the pod's own labels. A key that the pod lacks adds none. The API server writes
// the same requirements into the selectors of new pods; those are not added twice.
func mergeLabelKeys(out []model.Requirement, keys []string, op model.Operator, own map[string]string) []model.Requirement {
	for _, key := range keys {
		value, ok := own[key]
		if !ok {
			continue
		}
		r := model.Requirement{Key: key, Operator: op, Values: []string{value}}
		if !slices.ContainsFunc(out, func(have model.Requirement) bool { return reflect.DeepEqual(have, r) }) {
			out = append(out, r)
		}
	}
	return out
}
