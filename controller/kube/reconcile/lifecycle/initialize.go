package lifecycle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/reconcile/poolhealth"
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
// write, which admit has made already for most nodes.
func (r *Reconciler) initialize(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInitialized) {
		return nil
	}
	if why := readiness.Uninitialized(claim, node); why != "" {
		condition.Unknown(&claim.Status.Conditions, claim.Generation, karpv1.ConditionInitialized, "NotInitialized", why)
		return nil
	}
	base := node.DeepCopy()
	if err := r.markInitialized(ctx, claim, node); err != nil {
		return err
	}
	if err := r.writeNode(ctx, node, base); err != nil {
		return fmt.Errorf("initialize node %s: %w", node.Name, err)
	}
	condition.True(&claim.Status.Conditions, claim.Generation, karpv1.ConditionInitialized)
	return nil
}

// markInitialized changes node in memory: it is labelled as initialized, and reserved while
// planned pods wait.
func (r *Reconciler) markInitialized(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	node.Labels[karpv1.LabelInitialized] = "true"
	return r.Reservations.Close(ctx, claim, node)
}

// launchOverdue gives up a claim that has no instance after launchTimeout, so that its
// pods are planned anew. left is how long it still has. A failure that waiting does not
// mend counts against the NodePool; a cloud that does not answer does not.
func (r *Reconciler) launchOverdue(ctx context.Context, claim *karpv1.NodeClaim, cause error) (left time.Duration, err error) {
	if left = launchTimeout - r.Clock.Since(claim.CreationTimestamp.Time); left > 0 {
		return left, nil
	}
	r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventLaunchTimeout, "Delete", "not launched within %s: %s", launchTimeout, cause.Error())
	if provider.KindOf(cause).Definitive() {
		r.failed(claim, poolhealth.Failure{Reason: "LaunchFailed", Message: cause.Error()})
	}
	return 0, r.abandon(ctx, claim, "launch_timeout", cause.Error())
}

// failed records that the claim will not become a node.
func (r *Reconciler) failed(claim *karpv1.NodeClaim, why poolhealth.Failure) {
	r.Outcomes.Failed(claim.Labels[karpv1.LabelNodePool], why, claim.CreationTimestamp.Time, r.Clock.Now())
}

// liveness deletes a claim whose instance did not register in time.
func (r *Reconciler) liveness(ctx context.Context, claim *karpv1.NodeClaim) (time.Duration, error) {
	if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionRegistered) {
		return 0, nil
	}
	since := claim.CreationTimestamp.Time
	if c := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionLaunched); c != nil && c.LastTransitionTime.After(since) {
		since = c.LastTransitionTime.Time // an earlier one is not the controller's
	}
	if left := registrationTimeout - r.Clock.Since(since); left > 0 {
		return left, nil
	}
	message := fmt.Sprintf("no node with provider ID %s joined within %s; look at the instance's boot log and the node role", claim.Status.ProviderID, registrationTimeout)
	condition.False(&claim.Status.Conditions, claim.Generation, karpv1.ConditionRegistered, karpv1.EventRegistrationTimeout, message)
	r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventRegistrationTimeout, "Delete", "no node joined within %s", registrationTimeout)
	r.failed(claim, poolhealth.Failure{Reason: "RegistrationFailed", Message: message})
	return 0, r.abandon(ctx, claim, "registration_timeout", message)
}
