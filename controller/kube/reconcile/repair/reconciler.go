// Package repair replaces broken nodes: nodes with a condition that has lasted longer
// than nodes need to recover. Such a node is terminated at once, without waiting for
// its drain. When too many nodes are broken at the same time, none is replaced.
//
// Instances that fail EC2's own checks are handled in reconcile/interruption.
package repair

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/forceful"
	"spokeshave.dev/controller/kube/reconcile/index"
)

// retryInterval is how often a node is checked that may not be replaced yet because too many
// are broken.
const retryInterval = time.Minute

// Reconciler replaces broken nodes.
type Reconciler struct {
	Client  client.Client
	Events  events.EventRecorder
	Clock   clock.PassiveClock
	Deleter *forceful.Deleter
	// Metrics may be nil.
	Metrics *Metrics
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("node.health").
		For(&corev1.Node{}).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// Reconcile replaces the node when it is broken, and requeues it while it may recover.
func (r *Reconciler) Reconcile(ctx context.Context, node *corev1.Node) (reconcile.Result, error) {
	pool := node.Labels[karpv1.LabelNodePool]
	if pool == "" || node.Spec.ProviderID == "" || !node.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	t := diagnose(node, Policies())
	if t == nil {
		return reconcile.Result{}, nil
	}
	if left := t.due().Sub(r.Clock.Now()); left > 0 {
		return reconcile.Result{RequeueAfter: left}, nil
	}
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims, client.MatchingFields{index.ProviderID: node.Spec.ProviderID}); err != nil {
		return reconcile.Result{}, fmt.Errorf("find claim of node %s: %w", node.Name, err)
	}
	if len(claims.Items) == 0 || !claims.Items[0].DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	claim := &claims.Items[0]
	var nodes corev1.NodeList
	if err := r.Client.List(ctx, &nodes); err != nil {
		return reconcile.Result{}, fmt.Errorf("count broken nodes: %w", err)
	}
	if why := blocked(nodes.Items, pool, Policies(), r.Clock.Now()); why != "" {
		r.Events.Eventf(node, nil, corev1.EventTypeWarning, karpv1.EventNodeRepairBlocked, "Repair", "%s", why)
		r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventNodeRepairBlocked, "Repair", "%s", why)
		return reconcile.Result{RequeueAfter: retryInterval}, nil
	}
	return reconcile.Result{}, r.replace(ctx, node, claim, t)
}

// replace deletes the node's claim with a deadline of now. The next decision plans its
// pods anew.
func (r *Reconciler) replace(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim, t *unhealthyCondition) error {
	text := fmt.Sprintf("condition %s has been %s since %s", t.policy.Condition, t.policy.Status, t.since.UTC().Format(time.RFC3339))
	began, err := r.Deleter.Delete(ctx, claim, forceful.Cause{Reason: "Unhealthy", Message: text, Deadline: r.Clock.Now()})
	if err != nil || !began {
		return err
	}
	r.Metrics.disrupted(claim, t.policy.Condition)
	for _, o := range []client.Object{node, claim} {
		r.Events.Eventf(o, nil, corev1.EventTypeWarning, karpv1.EventDisruptionTerminating, "Repair", "the node is broken and replaced: %s", text)
	}
	return nil
}
