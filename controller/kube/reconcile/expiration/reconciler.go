// Package expiration deletes the claims of nodes that are older than expireAfter.
// Neither disruption budgets nor protected pods prevent that. The node's pods are
// planned anew at once, and the node is drained (reconcile/termination).
package expiration

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/reconcile/forceful"
	"spokeshave.dev/controller/kube/reconcile/scope"
)

// Reconciler deletes NodeClaims that are too old.
type Reconciler struct {
	Deleter *forceful.Deleter
	Events  events.EventRecorder
	Clock   clock.Clock
	// Client counts claims. It and Breaker go together: Breaker stops the end of many
	// nodes that are long overdue; nil never does.
	Client  client.Client
	Breaker *breaker.Breaker

	// burst counts the claims that are long overdue.
	burst breaker.Burst
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("nodeclaim.expiration").
		For(&karpv1.NodeClaim{}, builder.WithPredicates(scope.Managed())).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// Reconcile deletes the claim when it has expired, and requeues it for that time
// otherwise.
func (r *Reconciler) Reconcile(ctx context.Context, claim *karpv1.NodeClaim) (reconcile.Result, error) {
	after, ok := claim.Spec.ExpireAfter.Duration()
	if !ok || !claim.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	if left := after - r.Clock.Since(claim.CreationTimestamp.Time); left > 0 {
		return reconcile.Result{RequeueAfter: left}, nil
	}
	if held, err := r.held(ctx, claim, claim.CreationTimestamp.Add(after)); err != nil || held > 0 {
		return reconcile.Result{RequeueAfter: held}, err
	}
	began, err := r.Deleter.Delete(ctx, claim, forceful.Cause{
		Reason: "Expired", Message: "the node has reached the age of expireAfter, " + string(claim.Spec.ExpireAfter),
	})
	if err != nil || !began {
		return reconcile.Result{}, err
	}
	r.Events.Eventf(claim, nil, corev1.EventTypeNormal, karpv1.EventDisruptionTerminating, "Expire",
		"the node has reached the age of expireAfter, %s", claim.Spec.ExpireAfter)
	return reconcile.Result{}, nil
}
