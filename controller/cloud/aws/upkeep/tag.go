package upkeep

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
)

// Tagger sees to it that the instance of a registered node carries its claim's
// tags. A request for many claims cannot carry them; they are written after it, and
// what was missed then, because EC2 did not show the instance yet or the controller
// ended, is written here.
type Tagger struct {
	Client client.Client
	// Tag writes the claim's tags that the instance lacks.
	Tag func(ctx context.Context, providerID, claim string) error
}

// SetupWithManager registers the reconciler.
func (r *Tagger) SetupWithManager(mgr ctrl.Manager) error {
	if err := ctrl.NewControllerManagedBy(mgr).Named("nodeclaim.tagging").For(&karpv1.NodeClaim{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: taggers}).Complete(r); err != nil {
		return fmt.Errorf("set up the tagging controller: %w", err)
	}
	return nil
}

// foreign reports whether a claim is another controller's: it refers to a node class of
// another group.
func foreign(claim *karpv1.NodeClaim) bool { return claim.Spec.NodeClassRef.Group != awsv1.Group }

// taggers is how many instances are looked at in one call.
const taggers = 50

// Reconcile implements reconcile.Reconciler.
func (r *Tagger) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	claim := &karpv1.NodeClaim{}
	if err := r.Client.Get(ctx, req.NamespacedName, claim); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if foreign(claim) || claim.Status.ProviderID == "" || !claim.DeletionTimestamp.IsZero() || claim.Annotations[awsv1.AnnotationInstanceTagged] == "true" ||
		!meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionRegistered) {
		return reconcile.Result{}, nil
	}
	err := r.Tag(ctx, claim.Status.ProviderID, claim.Name)
	if err != nil && provider.KindOf(err) == provider.NotFound {
		return reconcile.Result{}, nil // its claim ends for that
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("tag the instance of %s: %w", claim.Name, err)
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"true"}}}`, awsv1.AnnotationInstanceTagged)
	if err := r.Client.Patch(ctx, claim.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("note that the instance of %s is tagged: %w", claim.Name, err)
	}
	return reconcile.Result{}, nil
}
