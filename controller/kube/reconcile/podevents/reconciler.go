// Package podevents writes on each NodeClaim when a pod last came to its node or left
// it. consolidateAfter counts from that time.
package podevents

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/reconcile/index"
)

// dedupeInterval is the least time between two pod events that are written, as in
// Karpenter.
const dedupeInterval = 10 * time.Second

// Reconciler writes pod events. Its requests carry node names.
type Reconciler struct {
	Client client.Client
	Clock  clock.Clock
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	enqueue := func(o client.Object, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
		if pod, ok := o.(*corev1.Pod); ok && pod.Spec.NodeName != "" && !lower.IsDaemon(pod) {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Name: pod.Spec.NodeName}})
		}
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("nodeclaim.podevents").
		Watches(&corev1.Pod{}, handler.Funcs{
			UpdateFunc: func(_ context.Context, e event.UpdateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
				enqueue(e.ObjectNew, q)
			},
			DeleteFunc: func(_ context.Context, e event.DeleteEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
				enqueue(e.Object, q)
			},
		}, builder.WithPredicates(predicate.Funcs{UpdateFunc: moved})).
		Complete(r)
}

// moved reports whether an update bound a pod, ended it, or started its deletion.
func moved(e event.UpdateEvent) bool {
	before, ok1 := e.ObjectOld.(*corev1.Pod)
	after, ok2 := e.ObjectNew.(*corev1.Pod)
	if !ok1 || !ok2 {
		return false
	}
	return before.Spec.NodeName != after.Spec.NodeName ||
		lower.IsRunning(before) != lower.IsRunning(after) ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero()
}

// Reconcile writes the time on the node's claim.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	node := &corev1.Node{}
	if err := r.Client.Get(ctx, req.NamespacedName, node); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if node.Spec.ProviderID == "" {
		return reconcile.Result{}, nil
	}
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims, client.MatchingFields{index.ProviderID: node.Spec.ProviderID}); err != nil {
		return reconcile.Result{}, fmt.Errorf("find claim of node %s: %w", node.Name, err)
	}
	for i := range claims.Items {
		claim := claims.Items[i].DeepCopy()
		if last := claim.Status.LastPodEventTime; last != nil {
			if left := dedupeInterval - r.Clock.Since(last.Time); left > 0 {
				return reconcile.Result{}, nil
			}
		}
		base := claim.DeepCopy()
		claim.Status.LastPodEventTime = &metav1.Time{Time: r.Clock.Now()}
		if err := r.Client.Status().Patch(ctx, claim, client.MergeFrom(base)); err != nil && !apierrors.IsNotFound(err) {
			return reconcile.Result{}, fmt.Errorf("note pod event on %s: %w", claim.Name, err)
		}
	}
	return reconcile.Result{}, nil
}
