package lifecycle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/reconcile/readiness"
)

// launchTimeout and registrationTimeout are how long a claim may take to be launched,
// and to register after the launch, as in Karpenter.
const (
	launchTimeout       = 5 * time.Minute
	registrationTimeout = 15 * time.Minute
)

// initialize marks a node as initialized once it is ready, has no startup taints, and
// reports every resource that the claim requests. It reserves the node with the same
// write.
func (r *Reconciler) initialize(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInitialized) {
		return nil
	}
	if why := readiness.Uninitialized(claim, node); why != "" {
		condition.Unknown(&claim.Status.Conditions, claim.Generation, karpv1.ConditionInitialized, "NotInitialized", why)
		return nil
	}
	base := node.DeepCopy()
	node.Labels[karpv1.LabelInitialized] = "true"
	if err := r.Reservations.Close(ctx, claim, node); err != nil {
		return err
	}
	if err := r.Client.Patch(ctx, node, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("initialize node %s: %w", node.Name, err)
	}
	condition.True(&claim.Status.Conditions, claim.Generation, karpv1.ConditionInitialized)
	return nil
}

// liveness deletes a claim that was not launched or registered in time.
func (r *Reconciler) liveness(ctx context.Context, claim *karpv1.NodeClaim) (time.Duration, error) {
	if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionRegistered) {
		return 0, nil
	}
	since, limit := claim.CreationTimestamp.Time, launchTimeout
	if c := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionLaunched); c != nil && condition.IsTrue(claim.Status.Conditions, c.Type) {
		since, limit = c.LastTransitionTime.Time, registrationTimeout
	}
	left := limit - r.Clock.Since(since)
	if left > 0 {
		return left, nil
	}
	condition.False(&claim.Status.Conditions, claim.Generation, karpv1.ConditionRegistered, "RegistrationTimeout",
		fmt.Sprintf("no node with provider ID %s joined within %s; look at the instance's boot log and the node role", claim.Status.ProviderID, limit))
	r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventRegistrationTimeout, "Delete", "no node joined within %s", limit)
	return 0, r.abandon(ctx, claim)
}
