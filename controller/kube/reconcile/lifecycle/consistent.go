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

// minCapacityPercent is the part, in per cent, of a resource that the claim promised and the
// node must have, as in Karpenter: what a machine reports is never quite what its
// type says.
const minCapacityPercent = 90

// checkConsistent keeps the condition ConsistentStateFound: a node that has less than
// it was chosen for, by an image or a memory overhead that is not as expected,
// takes fewer pods than were planned onto it.
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

// missingResource says of which requested resource the node has too little, empty for none.
func missingResource(claim *karpv1.NodeClaim, node *corev1.Node) string {
	for _, name := range slices.Sorted(maps.Keys(claim.Spec.Resources.Requests)) {
		want, have := claim.Status.Capacity[name], node.Status.Capacity[name]
		if share := have.AsApproximateFloat64() / want.AsApproximateFloat64(); !want.IsZero() && share*100 < minCapacityPercent {
			return fmt.Sprintf("node %s has %s of resource %s, where its claim expects %s: %.1f %% of it", node.Name, have.String(), name, want.String(), share*100)
		}
	}
	return ""
}
