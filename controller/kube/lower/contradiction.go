package lower

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Contradiction returns a problem that the API server's schema cannot find: requirements
// that no node can meet. It is "" for none.
func Contradiction(pool *karpv1.NodePool) string {
	reqs := pool.Spec.Template.Spec.Requirements
	for i := range reqs {
		a := &reqs[i]
		if value, fixed := pool.Spec.Template.Metadata.Labels[a.Key]; fixed && a.Operator == corev1.NodeSelectorOpIn && !slices.Contains(a.Values, value) {
			return fmt.Sprintf("spec.template: label %s is %q, but the requirement on it allows only %v", a.Key, value, a.Values)
		}
	}
	for i := range reqs {
		if key := reqs[i].Key; contradicts(reqs, key) {
			return fmt.Sprintf("spec.template.spec.requirements: the requirements on %s have no value in common", key)
		}
	}
	return ""
}

// contradicts reports whether no value of a label meets all requirements on it.
func contradicts(reqs []karpv1.Requirement, key string) bool {
	var values []string
	listed, exists, absent := false, false, false
	for i := range reqs {
		r := &reqs[i]
		if r.Key != key {
			continue
		}
		if r.Operator == corev1.NodeSelectorOpIn && !listed {
			listed, values = true, slices.Clone(r.Values)
		}
		absent = absent || r.Operator == corev1.NodeSelectorOpDoesNotExist
		// A node without the label meets NotIn.
		exists = exists || r.Operator != corev1.NodeSelectorOpDoesNotExist && r.Operator != corev1.NodeSelectorOpNotIn
	}
	if absent {
		return exists
	}
	values = slices.DeleteFunc(values, func(v string) bool {
		return slices.ContainsFunc(reqs, func(r karpv1.Requirement) bool { return r.Key == key && !meetsRequirement(&r, v) })
	})
	return listed && len(values) == 0
}

// meetsRequirement reports whether a label with the value meets the requirement.
func meetsRequirement(r *karpv1.Requirement, value string) bool {
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpNotIn:
		return !slices.Contains(r.Values, value)
	case corev1.NodeSelectorOpDoesNotExist:
		return false
	case corev1.NodeSelectorOpGt:
		return isOrdered(r, value, func(n, bound int64) bool { return n > bound })
	case corev1.NodeSelectorOpLt:
		return isOrdered(r, value, func(n, bound int64) bool { return n < bound })
	case karpv1.NodeSelectorOpGte:
		return isOrdered(r, value, func(n, bound int64) bool { return n >= bound })
	case karpv1.NodeSelectorOpLte:
		return isOrdered(r, value, func(n, bound int64) bool { return n <= bound })
	case corev1.NodeSelectorOpExists:
	}
	return true
}

// isOrdered compares a value with the requirement's. A word is neither greater nor less.
func isOrdered(r *karpv1.Requirement, value string, meets func(n, bound int64) bool) bool {
	if len(r.Values) != 1 {
		return true // the API server refuses it
	}
	n, err := strconv.ParseInt(value, 10, 64)
	bound, refused := strconv.ParseInt(r.Values[0], 10, 64)
	return refused != nil || err == nil && meets(n, bound)
}
