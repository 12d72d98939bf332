package lifecycle

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
)

// minCapacityPercent is the smallest capacity that a node must have of each resource,
// in per cent of what its claim states, as in Karpenter. A machine reports slightly
// less than its type's nominal capacity.
const minCapacityPercent = 90

// checkConsistent sets the condition ConsistentStateFound. It is false for a node that
// has less capacity than its claim states, because of an image or a memory overhead
// that differs from the expected one: such a node takes fewer pods than were planned
// onto it.
func (r *Reconciler) checkConsistent(claim *karpv1.NodeClaim, node *corev1.Node) {
	if !condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInitialized) {
		return
	}
	why := missingResource(claim, node)
	if why == "" {
		condition.True(&claim.Status.Conditions, claim.Generation, karpv1.ConditionConsistentStateFound)
		return
	}
	last := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionConsistentStateFound)
	if last == nil || last.Status != metav1.ConditionFalse || last.Message != why {
		r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventFailedConsistencyCheck, "Initialize", "%s", why)
	}
	condition.False(&claim.Status.Conditions, claim.Generation, karpv1.ConditionConsistentStateFound, "ConsistencyCheckFailed", why)
}

// missingResource returns a message about a requested resource of which the node has
// too little, "" for none.
func missingResource(claim *karpv1.NodeClaim, node *corev1.Node) string {
	for _, name := range slices.Sorted(maps.Keys(claim.Spec.Resources.Requests)) {
		want, have := claim.Status.Capacity[name], node.Status.Capacity[name]
		if share := have.AsApproximateFloat64() / want.AsApproximateFloat64(); !want.IsZero() && share*100 < minCapacityPercent {
			return fmt.Sprintf("node %s has %s of resource %s, where its claim expects %s: %.1f %% of it", node.Name, have.String(), name, want.String(), share*100)
		}
	}
	return ""
}
