package nodeclass

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/aws/resolve"
)

// DefaultInterval is how often a class is resolved again.
const DefaultInterval = time.Minute

// Reconciler keeps the status of every EC2NodeClass current. Resolver, Client
// and Events are needed.
type Reconciler struct {
	*Resolver
	Client client.Client
	Events events.EventRecorder
	// DriftCA is the cluster's CA certificate, base64, as part of the drift hash
	// (see EC2NodeClass.Hash); "" when it is not known.
	DriftCA string
	// Interval is how often a class is resolved again; DefaultInterval when 0.
	Interval time.Duration
}

// SetupWithManager registers the reconciler.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	claimGone := predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
	err := ctrl.NewControllerManagedBy(mgr).
		Named("nodeclass").
		For(&awsv1.EC2NodeClass{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&karpv1.NodeClaim{}, handler.EnqueueRequestsFromMapFunc(classOf), builder.WithPredicates(claimGone)).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the EC2NodeClass controller: %w", err)
	}
	return nil
}

func classOf(_ context.Context, o client.Object) []reconcile.Request {
	claim, ok := o.(*karpv1.NodeClaim)
	if !ok || claim.Spec.NodeClassRef.Group != awsv1.Group || claim.Spec.NodeClassRef.Kind != awsv1.Kind {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: claim.Spec.NodeClassRef.Name}}}
}

// Reconcile implements reconcile.Reconciler.
func (r *Reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	class := &awsv1.EC2NodeClass{}
	if err := r.Client.Get(ctx, req.NamespacedName, class); err != nil {
		if apierrors.IsNotFound(err) {
			r.Ages.forget(req.Name)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !class.DeletionTimestamp.IsZero() {
		r.Ages.forget(class.Name) // it is not resolved any more
		return r.finalize(ctx, class)
	}
	if err := r.annotate(ctx, class); err != nil {
		return reconcile.Result{}, err
	}
	status, failure := r.Resolve(ctx, class)
	if err := r.write(ctx, class, status); err != nil {
		return reconcile.Result{}, err
	}
	if failure != nil {
		return reconcile.Result{}, fmt.Errorf("resolve EC2NodeClass %s: %w", class.Name, failure)
	}
	if err := r.dryRun(ctx, class); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: r.interval()}, nil
}

func (r *Reconciler) write(ctx context.Context, class *awsv1.EC2NodeClass, status awsv1.EC2NodeClassStatus) error {
	if equality.Semantic.DeepEqual(class.Status, status) {
		return nil
	}
	before := class.DeepCopy()
	class.Status = status
	if err := r.Client.Status().Patch(ctx, class, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write status of EC2NodeClass %s: %w", class.Name, client.IgnoreNotFound(err))
	}
	return nil
}

func (r *Reconciler) interval() time.Duration {
	if r.Interval > 0 {
		return r.Interval
	}
	return DefaultInterval
}

// finalize lets a deleted class go once no NodeClaim uses it.
func (r *Reconciler) finalize(ctx context.Context, class *awsv1.EC2NodeClass) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(class, awsv1.FinalizerTermination) {
		return reconcile.Result{}, nil
	}
	users, err := r.users(ctx)
	if err != nil {
		return reconcile.Result{}, err
	}
	if own := users[class.Name]; len(own) > 0 {
		r.Events.Eventf(class, nil, corev1.EventTypeNormal, awsv1.EventWaitingOnNodeClaimTermination, "Delete",
			"Deletion waits for %d NodeClaims that use the class, such as %s", len(own), own[0])
		return reconcile.Result{RequeueAfter: r.interval()}, nil
	}
	if err := r.cleanUp(ctx, class, users); err != nil {
		return reconcile.Result{}, fmt.Errorf("clean up after EC2NodeClass %s: %w", class.Name, err)
	}
	if r.DryRuns != nil {
		r.DryRuns.Forget(class.Name)
	}
	before := class.DeepCopy()
	controllerutil.RemoveFinalizer(class, awsv1.FinalizerTermination)
	err = r.Client.Patch(ctx, class, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	if err := client.IgnoreNotFound(err); err != nil {
		return reconcile.Result{}, fmt.Errorf("release EC2NodeClass %s: %w", class.Name, err)
	}
	return reconcile.Result{}, nil
}

// users are the names of the NodeClaims of each class.
func (r *Reconciler) users(ctx context.Context) (map[string][]string, error) {
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims); err != nil {
		return nil, fmt.Errorf("list NodeClaims: %w", err)
	}
	out := map[string][]string{}
	for i := range claims.Items {
		ref := &claims.Items[i].Spec.NodeClassRef
		if ref.Group == awsv1.Group && ref.Kind == awsv1.Kind {
			out[ref.Name] = append(out[ref.Name], claims.Items[i].Name)
		}
	}
	return out, nil
}

// cleanUp removes what was made for the class in AWS. An instance profile that
// another class's role needs stays; another class on its way out needs it as
// long as it has NodeClaims.
func (r *Reconciler) cleanUp(ctx context.Context, class *awsv1.EC2NodeClass, users map[string][]string) error {
	failure := r.Cloud.DeleteTemplates(ctx, class.Name)
	if class.Spec.Role == "" {
		return failure
	}
	var classes awsv1.EC2NodeClassList
	if err := r.Client.List(ctx, &classes); err != nil {
		return errors.Join(failure, fmt.Errorf("list EC2NodeClasses: %w", err))
	}
	for i := range classes.Items {
		other := &classes.Items[i]
		needs := other.DeletionTimestamp.IsZero() || len(users[other.Name]) > 0
		if other.UID != class.UID && resolve.RoleName(other.Spec.Role) == resolve.RoleName(class.Spec.Role) && needs {
			return failure
		}
	}
	return errors.Join(failure, r.Cloud.DeleteInstanceProfile(ctx, class.Spec.Role))
}
