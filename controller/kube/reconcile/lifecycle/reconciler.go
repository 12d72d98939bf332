// Package lifecycle handles a NodeClaim from its creation to its end: launch,
// registration, initialization, deletion when it does not start in time, and, once it
// is deleted, the termination of its instance.
//
// Nodes are drained in reconcile/termination.
package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/reconcile/index"
	"spokeshave.dev/controller/kube/reconcile/poolhealth"
	"spokeshave.dev/controller/kube/reconcile/reservation"
	"spokeshave.dev/controller/kube/reconcile/scope"
)

// Reconciler launches, registers, initializes and finalizes NodeClaims.
//
// Size: one method for each step of a NodeClaim's life.
type Reconciler struct {
	Client   client.Client
	Provider provider.Provider
	Events   events.EventRecorder
	Clock    clock.Clock
	// Workers is how many claims are reconciled at once.
	Workers int
	// Reservations reserve new nodes for the pods that were planned on them.
	Reservations *reservation.Reservations
	// Outcomes record whether claims become nodes; may be nil.
	Outcomes *poolhealth.Outcomes
	// OnLaunch, when set, is called after each launch.
	OnLaunch func()
	// Metrics may be nil.
	Metrics *metric.Reconcilers

	// taintReplaced is when nodes that are not registered yet lost the unregistered
	// taint, by the UIDs of their claims.
	taintReplaced sync.Map
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("nodeclaim.lifecycle").
		// The reconciler's own writes must not trigger it: a failed launch waits for
		// its retry. A deletion increases the generation and does trigger it.
		For(&karpv1.NodeClaim{}, builder.WithPredicates(scope.Managed(), predicate.Or(predicate.GenerationChangedPredicate{}, predicate.Funcs{UpdateFunc: gotProviderID}, predicate.Funcs{UpdateFunc: gotOptions}, predicate.Funcs{UpdateFunc: gotPods}, predicate.Funcs{UpdateFunc: lostCondition}))).
		Watches(&corev1.Node{}, handler.EnqueueRequestsFromMapFunc(r.claimsOf)).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.Workers}).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// gotProviderID reports whether the update set the claim's provider ID. A node that
// joined before has found no claim; without this event it would be reconciled only at
// its next heartbeat, five minutes later.
func gotProviderID(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*karpv1.NodeClaim)
	after, is := e.ObjectNew.(*karpv1.NodeClaim)
	return ok && is && before.Status.ProviderID != after.Status.ProviderID
}

// gotOptions reports whether the update chose the options of a claim that no decision
// made, so that it can be launched.
func gotOptions(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.GetAnnotations()[karpv1.AnnotationLaunch], e.ObjectNew.GetAnnotations()[karpv1.AnnotationLaunch]
	return before == "" && after != ""
}

// gotPods reports whether further pods were planned onto the claim's instance, so that
// they get the toleration of its reservation.
func gotPods(e event.UpdateEvent) bool {
	after, ok := e.ObjectNew.(*karpv1.NodeClaim)
	return ok && after.Status.ProviderID != "" && e.ObjectOld.GetAnnotations()[karpv1.AnnotationPlannedPods] != after.Annotations[karpv1.AnnotationPlannedPods]
}

// lostCondition reports whether the update took back a step that the claim had made. The
// reconciler never does that: it writes the condition again.
func lostCondition(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*karpv1.NodeClaim)
	after, is := e.ObjectNew.(*karpv1.NodeClaim)
	return ok && is && slices.ContainsFunc(after.ReadyConditions(), func(kind string) bool {
		return condition.IsTrue(before.Status.Conditions, kind) && !condition.IsTrue(after.Status.Conditions, kind)
	})
}

// claimsOf maps a node to the claim with the same provider ID.
func (r *Reconciler) claimsOf(ctx context.Context, o client.Object) []reconcile.Request {
	node, ok := o.(*corev1.Node)
	if !ok || node.Spec.ProviderID == "" {
		return nil
	}
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims, client.MatchingFields{index.ProviderID: node.Spec.ProviderID}); err != nil {
		return nil
	}
	out := make([]reconcile.Request, 0, len(claims.Items))
	for i := range claims.Items {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: claims.Items[i].Name}})
	}
	return out
}

// Reconcile moves one claim a step further.
func (r *Reconciler) Reconcile(ctx context.Context, claim *karpv1.NodeClaim) (reconcile.Result, error) {
	claim = claim.DeepCopy()
	if !claim.DeletionTimestamp.IsZero() {
		r.taintReplaced.Delete(claim.UID)
		return r.finalize(ctx, claim)
	}
	base := claim.DeepCopy()
	if controllerutil.AddFinalizer(claim, karpv1.FinalizerTermination) {
		if err := r.write(ctx, claim, base); err != nil {
			return ignoreRace(fmt.Errorf("add finalizer to %s: %w", claim.Name, err))
		}
	}
	before := claim.Status.DeepCopy()
	wait, stepErr := r.steps(ctx, claim)
	condition.Summarize(&claim.Status.Conditions, claim.Generation, claim.ReadyConditions())
	if !equality.Semantic.DeepEqual(before, &claim.Status) {
		if err := r.Client.Status().Update(ctx, claim); err != nil {
			return ignoreRace(fmt.Errorf("write status of %s: %w", claim.Name, err))
		}
		if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionRegistered) && !condition.IsTrue(before.Conditions, karpv1.ConditionRegistered) {
			r.Metrics.NodeCreated(metric.SubjectOf(claim.Labels)) // not before it is written: until then registration is repeated
			r.Outcomes.Registered(claim.Labels[karpv1.LabelNodePool])
		}
	}
	if stepErr != nil {
		return ignoreRace(stepErr)
	}
	return reconcile.Result{RequeueAfter: wait}, nil
}

// write writes what differs from base, unless others have written since. A whole claim is
// not written: its spec is immutable, and one that Karpenter or a person wrote may spell a
// value in another way than our types do (resources: {}, 24h).
func (r *Reconciler) write(ctx context.Context, claim, base *karpv1.NodeClaim) error {
	return r.Client.Patch(ctx, claim, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

// steps runs launch, registration, initialization, the end of the reservation and
// liveness in order. It changes claim.Status and returns after how long to run again, 0
// for at the next event.
func (r *Reconciler) steps(ctx context.Context, claim *karpv1.NodeClaim) (time.Duration, error) {
	done, wait, err := r.launch(ctx, claim)
	if err != nil || !done {
		return wait, err
	}
	again, err := r.Reservations.Prepare(ctx, claim)
	if err != nil {
		return 0, err
	}
	if wait, err = r.join(ctx, claim); err == nil && again > 0 && (wait == 0 || again < wait) {
		wait = again
	}
	return wait, err
}

// join runs the steps after the launch.
func (r *Reconciler) join(ctx context.Context, claim *karpv1.NodeClaim) (time.Duration, error) {
	node, err := r.nodeOf(ctx, claim)
	if err != nil {
		return 0, err
	}
	if node != nil {
		if wait, err := r.register(ctx, claim, node); err != nil || wait > 0 {
			return wait, err
		}
		if err := r.initialize(ctx, claim, node); err != nil {
			return 0, err
		}
		r.checkConsistent(claim, node)
		if wait, err := r.Reservations.Open(ctx, claim, node); err != nil || wait > 0 {
			return wait, err
		}
	}
	return r.liveness(ctx, claim)
}

// nodeOf finds the claim's node by provider ID. It is nil before the node joins.
func (r *Reconciler) nodeOf(ctx context.Context, claim *karpv1.NodeClaim) (*corev1.Node, error) {
	if claim.Status.ProviderID == "" {
		return nil, nil //nolint:nilnil // no node yet is an ordinary answer, not an error
	}
	var nodes corev1.NodeList
	if err := r.Client.List(ctx, &nodes, client.MatchingFields{index.ProviderID: claim.Status.ProviderID}); err != nil {
		return nil, fmt.Errorf("find node of %s: %w", claim.Name, err)
	}
	switch len(nodes.Items) {
	case 0:
		return nil, nil //nolint:nilnil // as above
	case 1:
		return nodes.Items[0].DeepCopy(), nil
	default:
		return nil, fmt.Errorf("find node of %s: %d nodes have provider ID %s; delete the wrong ones", claim.Name, len(nodes.Items), claim.Status.ProviderID)
	}
}

// ignoreRace turns a conflict into a retry and a NotFound error into success.
func ignoreRace(err error) (reconcile.Result, error) {
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: 100 * time.Millisecond}, nil
	case apierrors.IsNotFound(err):
		return reconcile.Result{}, nil
	default:
		return reconcile.Result{}, err
	}
}
