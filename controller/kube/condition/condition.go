// Package condition sets status conditions and their summary, Ready.
package condition

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// True sets a condition to true. Its reason is its own type, as in Karpenter.
func True(conditions *[]metav1.Condition, generation int64, kind string) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: kind, Status: metav1.ConditionTrue, Reason: kind, ObservedGeneration: generation,
	})
}

// False sets a condition to false, with a reason in CamelCase and a sentence that says
// what to do.
func False(conditions *[]metav1.Condition, generation int64, kind, reason, message string) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message, ObservedGeneration: generation,
	})
}

// Unknown sets a condition to unknown.
func Unknown(conditions *[]metav1.Condition, generation int64, kind, reason, message string) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: kind, Status: metav1.ConditionUnknown, Reason: reason, Message: message, ObservedGeneration: generation,
	})
}

// IsTrue reports whether a condition exists and is true.
func IsTrue(conditions []metav1.Condition, kind string) bool {
	return meta.IsStatusConditionTrue(conditions, kind)
}

// Summarize sets Ready from the conditions on which it depends. If one of them is not
// true, Ready has the message of the first such one.
func Summarize(conditions *[]metav1.Condition, generation int64, parts []string) {
	i := slices.IndexFunc(parts, func(kind string) bool { return !IsTrue(*conditions, kind) })
	if i < 0 {
		True(conditions, generation, karpv1.ConditionReady)
		return
	}
	c := meta.FindStatusCondition(*conditions, parts[i])
	switch {
	case c == nil:
		Unknown(conditions, generation, karpv1.ConditionReady, "AwaitingReconciliation", parts[i]+" is not known yet")
	case c.Status == metav1.ConditionFalse:
		False(conditions, generation, karpv1.ConditionReady, "UnhealthyDependents", parts[i]+": "+c.Message)
	default:
		Unknown(conditions, generation, karpv1.ConditionReady, "ReconcilingDependents", parts[i]+": "+c.Message)
	}
}
