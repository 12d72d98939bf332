// Package static removes nodes of static NodePools that have more nodes than
// spec.replicas, in the order of least harm.
//
// Missing nodes are launched, and drifted ones replaced, by ordinary decisions
// (lower.Build adds placeholder pods for them).
package static

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/managed"
	"spokeshave.dev/controller/kube/reconcile/forceful"
	"spokeshave.dev/controller/kube/reconcile/index"
	"spokeshave.dev/controller/kube/reconcile/scope"
)

// Reconciler scales static pools down.
type Reconciler struct {
	Client client.Client
	// Live reads from the API server: a claim that was deleted a moment ago must not be
	// counted, or another one is deleted for it.
	Live    client.Reader
	Events  events.EventRecorder
	Clock   clock.PassiveClock
	Deleter *forceful.Deleter
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("static.deprovisioning").
		For(&karpv1.NodePool{}, builder.WithPredicates(scope.Managed())).
		Watches(&karpv1.NodeClaim{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
			return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: o.GetLabels()[karpv1.LabelNodePool]}}}
		})).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// Reconcile deletes the claims beyond spec.replicas.
func (r *Reconciler) Reconcile(ctx context.Context, pool *karpv1.NodePool) (reconcile.Result, error) {
	if pool.Spec.Replicas == nil || !managed.Pool(pool) || !pool.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	want := int(*pool.Spec.Replicas)
	if claims, err := counted(ctx, r.Client, pool.Name); err != nil || len(claims) <= want {
		return reconcile.Result{}, err
	}
	claims, err := counted(ctx, r.Live, pool.Name)
	if err != nil || len(claims) <= want {
		return reconcile.Result{}, err
	}
	nodes := make([]candidate, 0, len(claims))
	for i := range claims {
		c, err := r.candidate(ctx, &claims[i])
		if err != nil {
			return reconcile.Result{}, err
		}
		nodes = append(nodes, c)
	}
	text := fmt.Sprintf("NodePool %s has %d nodes, and replicas is %d", pool.Name, len(claims), want)
	for _, c := range deletionOrder(nodes)[:len(claims)-want] {
		began, err := r.Deleter.Delete(ctx, c.claim, forceful.Cause{Reason: "ScaledDown", Message: text})
		if err != nil {
			return reconcile.Result{}, err
		}
		if began {
			r.Events.Eventf(c.claim, nil, corev1.EventTypeNormal, karpv1.EventDisruptionTerminating, "ScaleDown", "%s", text)
		}
	}
	return reconcile.Result{}, nil
}

// counted returns the pool's claims, without those that are being deleted or replaced:
// their replacements are in the list.
func counted(ctx context.Context, from client.Reader, pool string) ([]karpv1.NodeClaim, error) {
	var claims karpv1.NodeClaimList
	if err := from.List(ctx, &claims, client.MatchingLabels{karpv1.LabelNodePool: pool}); err != nil {
		return nil, fmt.Errorf("list claims of NodePool %s: %w", pool, err)
	}
	var out []karpv1.NodeClaim
	for i := range claims.Items {
		if c := &claims.Items[i]; c.DeletionTimestamp.IsZero() && c.Annotations[karpv1.AnnotationDisruption] == "" {
			out = append(out, *c)
		}
	}
	return out, nil
}

// candidate describes the claim's node for deletionOrder.
func (r *Reconciler) candidate(ctx context.Context, claim *karpv1.NodeClaim) (candidate, error) {
	out := candidate{
		claim: claim, initialized: condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInitialized),
		drifted:   condition.IsTrue(claim.Status.Conditions, karpv1.ConditionDrifted),
		protected: claim.Annotations[karpv1.AnnotationDoNotDisrupt] == "true",
	}
	if claim.Status.NodeName == "" {
		return out, nil
	}
	node := &corev1.Node{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: claim.Status.NodeName}, node); client.IgnoreNotFound(err) != nil {
		return out, fmt.Errorf("read node of %s: %w", claim.Name, err)
	}
	out.protected = out.protected || node.Annotations[karpv1.AnnotationDoNotDisrupt] == "true"
	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, client.MatchingFields{index.NodeName: claim.Status.NodeName}); err != nil {
		return out, fmt.Errorf("list pods of node %s: %w", claim.Status.NodeName, err)
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if lower.IsRunning(p) && !lower.IsDaemon(p) {
			out.pods++
			out.protected = out.protected || lower.IsProtected(p, r.Clock.Now())
		}
	}
	return out, nil
}
