// Package nodepool maintains the status of NodePools: whether the pool can be used and
// why not, the resources of its nodes, and the hash by which drift is detected.
package nodepool

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/managed"
	"spokeshave.dev/controller/kube/reconcile/poolhealth"
	"spokeshave.dev/controller/kube/reconcile/scope"
)

// Reconciler maintains the status of NodePools.
type Reconciler struct {
	Client client.Client
	Events events.EventRecorder
	Clock  clock.PassiveClock
	// Outcomes say whether the pools' launches became nodes; nil when they are not known.
	Outcomes *poolhealth.Outcomes
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	changed := make(chan event.GenericEvent, pending)
	r.Outcomes.Notify(func(pool string) {
		select {
		case changed <- event.GenericEvent{Object: &karpv1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: pool}}}:
		default: // the next event of a claim says it too
		}
	})
	return ctrl.NewControllerManagedBy(mgr).
		Named("nodepool").
		For(&karpv1.NodePool{}, builder.WithPredicates(scope.Managed())).
		Watches(&awsv1.EC2NodeClass{}, handler.EnqueueRequestsFromMapFunc(r.poolsOf)).
		Watches(&karpv1.NodeClaim{}, enqueueLater(poolOf), builder.WithPredicates(capacityChanged())).
		WatchesRawSource(source.Channel(changed, &handler.EnqueueRequestForObject{})).
		Complete(r.forgetting(reconcile.AsReconciler(mgr.GetClient(), r)))
}

// forgetting drops the outcomes of a pool that is gone, also those that its last claims bring about
// afterwards: each of them asks for the pool to be reconciled.
func (r *Reconciler) forgetting(then reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
		if err := r.Client.Get(ctx, req.NamespacedName, &karpv1.NodePool{}); apierrors.IsNotFound(err) {
			r.Outcomes.Forget(req.Name)
		}
		return then.Reconcile(ctx, req)
	})
}

// pending is how many changes of outcomes may wait to be looked at.
const pending = 1024

// poolsOf maps a node class to the pools that refer to it.
func (r *Reconciler) poolsOf(ctx context.Context, o client.Object) []reconcile.Request {
	var pools karpv1.NodePoolList
	if err := r.Client.List(ctx, &pools); err != nil {
		return nil
	}
	var out []reconcile.Request
	for i := range pools.Items {
		if pools.Items[i].Spec.Template.Spec.NodeClassRef.Name == o.GetName() {
			out = append(out, reconcile.Request{NamespacedName: types.NamespacedName{Name: pools.Items[i].Name}})
		}
	}
	return out
}

// Reconcile brings one pool's status up to date.
func (r *Reconciler) Reconcile(ctx context.Context, pool *karpv1.NodePool) (reconcile.Result, error) {
	if !pool.DeletionTimestamp.IsZero() || !managed.Pool(pool) {
		return reconcile.Result{}, nil
	}
	pool = pool.DeepCopy()
	if err := r.hash(ctx, pool); err != nil {
		return ignoreStale(err)
	}
	before := pool.Status.DeepCopy()
	if err := r.sumResources(ctx, pool); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.setConditions(ctx, pool); err != nil {
		return reconcile.Result{}, err
	}
	if !equality.Semantic.DeepEqual(before, &pool.Status) {
		if err := r.Client.Status().Update(ctx, pool); err != nil {
			return ignoreStale(fmt.Errorf("write status of NodePool %s: %w", pool.Name, err))
		}
	}
	left, err := r.pause(ctx, pool, before)
	if err != nil {
		return ignoreStale(err)
	}
	return reconcile.Result{RequeueAfter: left}, nil
}

func ignoreStale(err error) (reconcile.Result, error) {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return reconcile.Result{}, nil // a newer event is on its way
	}
	return reconcile.Result{}, err
}

// sumResources sums the capacity of the pool's claims.
func (r *Reconciler) sumResources(ctx context.Context, pool *karpv1.NodePool) error {
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims, client.MatchingLabels{karpv1.LabelNodePool: pool.Name}); err != nil {
		return fmt.Errorf("list claims of NodePool %s: %w", pool.Name, err)
	}
	sum := karpv1.ResourceList{}
	for i := range claims.Items {
		for name, q := range claims.Items[i].Status.Capacity {
			total := sum[name]
			total.Add(q)
			sum[name] = total
		}
	}
	sum[karpv1.LimitNodes] = *resource.NewQuantity(int64(len(claims.Items)), resource.DecimalSI)
	pool.Status.Resources = sum
	pool.Status.Nodes = int64(len(claims.Items))
	return nil
}

// setConditions sets the pool's conditions.
func (r *Reconciler) setConditions(ctx context.Context, pool *karpv1.NodePool) error {
	conditions := &pool.Status.Conditions
	if problem := lower.Contradiction(pool); problem != "" {
		if c := meta.FindStatusCondition(*conditions, karpv1.ConditionValidationSucceeded); c == nil || c.Message != problem {
			r.Events.Eventf(pool, nil, corev1.EventTypeWarning, karpv1.EventNoCompatibleInstanceTypes, "Validate", "%s", problem)
		}
		condition.False(conditions, pool.Generation, karpv1.ConditionValidationSucceeded, "NodePoolValidationFailed", problem)
	} else {
		condition.True(conditions, pool.Generation, karpv1.ConditionValidationSucceeded)
	}
	class, err := r.setClassCondition(ctx, pool)
	if err != nil {
		return err
	}
	r.setRegistrationCondition(pool, class)
	condition.Summarize(conditions, pool.Generation, pool.ReadyConditions())
	return nil
}

// setClassCondition sets NodeClassReady, and returns the generation of the class, 0 when there
// is none.
func (r *Reconciler) setClassCondition(ctx context.Context, pool *karpv1.NodePool) (generation int64, err error) {
	ref := pool.Spec.Template.Spec.NodeClassRef
	conditions := &pool.Status.Conditions
	if ref.Group != awsv1.Group || ref.Kind != "EC2NodeClass" {
		condition.False(conditions, pool.Generation, karpv1.ConditionNodeClassReady, "NodeClassNotSupported",
			fmt.Sprintf("nodeClassRef names %s/%s; this controller knows %s/EC2NodeClass", ref.Group, ref.Kind, awsv1.Group))
		return 0, nil
	}
	class := &awsv1.EC2NodeClass{}
	err = r.Client.Get(ctx, types.NamespacedName{Name: ref.Name}, class)
	switch {
	case apierrors.IsNotFound(err):
		condition.False(conditions, pool.Generation, karpv1.ConditionNodeClassReady, "NodeClassNotFound",
			fmt.Sprintf("there is no EC2NodeClass %q; create it, or correct spec.template.spec.nodeClassRef.name", ref.Name))
	case err != nil:
		return 0, fmt.Errorf("read EC2NodeClass %s: %w", ref.Name, err)
	case !class.DeletionTimestamp.IsZero():
		condition.False(conditions, pool.Generation, karpv1.ConditionNodeClassReady, "NodeClassTerminating",
			fmt.Sprintf("EC2NodeClass %q is being deleted", ref.Name))
	case condition.IsTrue(class.Status.Conditions, karpv1.ConditionReady):
		condition.True(conditions, pool.Generation, karpv1.ConditionNodeClassReady)
	default:
		message := fmt.Sprintf("EC2NodeClass %q is not resolved yet", ref.Name)
		if c := meta.FindStatusCondition(class.Status.Conditions, karpv1.ConditionReady); c != nil && c.Message != "" {
			message = fmt.Sprintf("EC2NodeClass %q is not ready: %s", ref.Name, c.Message)
		}
		condition.False(conditions, pool.Generation, karpv1.ConditionNodeClassReady, "NodeClassNotReady", message)
	}
	return class.Generation, nil
}
