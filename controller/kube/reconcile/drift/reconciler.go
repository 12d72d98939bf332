// Package drift maintains the conditions by which nodes become candidates for
// disruption: Drifted, when a node no longer matches its NodePool or node class, and
// Consolidatable, when no pod has come to or left the node for consolidateAfter.
//
// The decisions that follow from them are in controller/core/decide.
package drift

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/managed"
	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/reconcile/scope"
)

// requeueAfter is how often a claim is checked when no event arrives: the provider's part of
// drift cannot be watched.
const requeueAfter = 5 * time.Minute

// Reconciler maintains these conditions of NodeClaims.
type Reconciler struct {
	Client   client.Client
	Provider provider.Provider
	// Drifter reports the provider's part of drift. When nil, there is none.
	Drifter provider.Drifter
	Clock   clock.Clock
	// Breaker stops drift of many nodes that no change of their NodePool or class
	// explains; nil never does. Version is the controller's.
	Breaker *breaker.Breaker
	Version string

	// burst counts the claims whose drift nothing explains, by NodePool.
	burst breaker.Burst
	// answers caches the provider's last answers, by claim UID.
	answers sync.Map
	// missing is since when claims are of types that the catalogue lacks, by claim UID.
	missing sync.Map
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("nodeclaim.disruption").
		For(&karpv1.NodeClaim{}, builder.WithPredicates(scope.Managed())).
		// The status of a pool changes with every node and does not affect drift.
		Watches(&karpv1.NodePool{}, handler.EnqueueRequestsFromMapFunc(r.claimsOf),
			builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{}))).
		Watches(&awsv1.EC2NodeClass{}, handler.EnqueueRequestsFromMapFunc(r.claimsOf)).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// claimsOf maps a NodePool or node class to its claims.
func (r *Reconciler) claimsOf(ctx context.Context, o client.Object) []reconcile.Request {
	key := karpv1.LabelNodePool
	if _, class := o.(*awsv1.EC2NodeClass); class {
		key = awsv1.LabelEC2NodeClass
	}
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims, client.MatchingLabels{key: o.GetName()}); err != nil {
		return nil
	}
	out := make([]reconcile.Request, 0, len(claims.Items))
	for i := range claims.Items {
		out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: claims.Items[i].Name}})
	}
	return out
}

// Reconcile brings one claim's conditions up to date.
func (r *Reconciler) Reconcile(ctx context.Context, claim *karpv1.NodeClaim) (reconcile.Result, error) {
	if !managed.Claim(claim) {
		return reconcile.Result{}, nil // mapped from a pool or a class of the same name
	}
	if !claim.DeletionTimestamp.IsZero() {
		r.answers.Delete(claim.UID)
		r.missing.Delete(claim.UID)
		r.burst.Remove(claim.Labels[karpv1.LabelNodePool], claim.UID)
		return reconcile.Result{}, nil
	}
	if !condition.IsTrue(claim.Status.Conditions, karpv1.ConditionLaunched) {
		return reconcile.Result{}, nil
	}
	pool := &karpv1.NodePool{}
	err := r.Client.Get(ctx, types.NamespacedName{Name: claim.Labels[karpv1.LabelNodePool]}, pool)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, nil // a claim without its NodePool is deleted with it
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read NodePool of %s: %w", claim.Name, err)
	}
	claim = claim.DeepCopy()
	base := claim.DeepCopy()
	reason, message, err := r.reason(ctx, claim, pool)
	if err != nil {
		return reconcile.Result{}, err
	}
	held, err := r.held(ctx, claim, pool, reason)
	if err != nil {
		return reconcile.Result{}, err
	}
	if reason == "" || held > 0 {
		meta.RemoveStatusCondition(&claim.Status.Conditions, karpv1.ConditionDrifted)
	} else {
		meta.SetStatusCondition(&claim.Status.Conditions, metav1.Condition{
			Type: karpv1.ConditionDrifted, Status: metav1.ConditionTrue, Reason: reason, Message: message, ObservedGeneration: claim.Generation,
		})
	}
	wait := r.consolidatable(claim, pool)
	if held > 0 {
		wait = min(wait, held)
	}
	if equality.Semantic.DeepEqual(base.Status, claim.Status) {
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	err = r.Client.Status().Patch(ctx, claim, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: 100 * time.Millisecond}, nil
	case client.IgnoreNotFound(err) != nil:
		return reconcile.Result{}, fmt.Errorf("write conditions of %s: %w", claim.Name, err)
	}
	return reconcile.Result{RequeueAfter: wait}, nil
}

// reason returns why the claim has drifted, "" when it has not, and a sentence for
// users.
func (r *Reconciler) reason(ctx context.Context, claim *karpv1.NodeClaim, pool *karpv1.NodePool) (reason, message string, err error) {
	if why, err := fromPool(claim, pool); err != nil || why != "" {
		return why, "", err
	}
	class := &awsv1.EC2NodeClass{}
	err = r.Client.Get(ctx, types.NamespacedName{Name: claim.Spec.NodeClassRef.Name}, class)
	switch {
	case apierrors.IsNotFound(err):
		return "", "", nil
	case err != nil:
		return "", "", fmt.Errorf("read EC2NodeClass %s: %w", claim.Spec.NodeClassRef.Name, err)
	}
	catalog, err := r.Provider.Catalog(ctx, class.Name)
	if err != nil {
		return "", "", nil //nolint:nilerr // a class that cannot be launched from now says nothing about its nodes
	}
	if why := r.lasting(claim, fromCatalog(claim, &catalog)); why != "" || r.Drifter == nil {
		return why, "", nil
	}
	return r.fromProvider(ctx, claim, class)
}

// answer is the provider's answer about a claim, and the version of the node class for
// which it was given.
type answer struct {
	class string
	at    time.Time
	drift provider.Drift
}

// fromProvider asks the provider whether the claim has drifted. It repeats the call
// only when the class has changed or again has passed, because claims change much more
// often than instances.
func (r *Reconciler) fromProvider(ctx context.Context, claim *karpv1.NodeClaim, class *awsv1.EC2NodeClass) (reason, message string, err error) {
	now := r.Clock.Now()
	if last, ok := r.answers.Load(claim.UID); ok {
		if a, ok := last.(answer); ok && a.class == class.ResourceVersion && now.Sub(a.at) < requeueAfter-time.Second {
			return string(a.drift.Reason), a.drift.Message, nil
		}
	}
	drift, err := r.Drifter.Drifted(ctx, provider.Launched{
		ProviderID: claim.Status.ProviderID, NodeClass: class.Name, Labels: claim.Labels, Annotations: claim.Annotations,
	})
	switch kind := provider.KindOf(err); {
	case err == nil:
	case kind == provider.NotFound || kind == provider.ClassNotReady:
		return "", "", nil // nothing is known, and somebody else's business
	default:
		return "", "", fmt.Errorf("compare instance of %s with its node class: %w", claim.Name, err)
	}
	r.answers.Store(claim.UID, answer{class.ResourceVersion, now, drift})
	return string(drift.Reason), drift.Message, nil
}

// consolidatable sets the condition Consolidatable once consolidateAfter has passed
// since the last pod event. It returns after how long to check again.
func (r *Reconciler) consolidatable(claim *karpv1.NodeClaim, pool *karpv1.NodePool) time.Duration {
	ready := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionInitialized)
	after, ok := pool.Spec.Disruption.ConsolidateAfter.Duration()
	if !ok || ready == nil || ready.Status != metav1.ConditionTrue {
		meta.RemoveStatusCondition(&claim.Status.Conditions, karpv1.ConditionConsolidatable)
		return requeueAfter
	}
	since := ready.LastTransitionTime.Time
	if last := claim.Status.LastPodEventTime; last != nil && last.After(since) {
		since = last.Time
	}
	if left := after - r.Clock.Since(since); left > 0 {
		meta.RemoveStatusCondition(&claim.Status.Conditions, karpv1.ConditionConsolidatable)
		return min(left, requeueAfter)
	}
	condition.True(&claim.Status.Conditions, claim.Generation, karpv1.ConditionConsolidatable)
	return requeueAfter
}
