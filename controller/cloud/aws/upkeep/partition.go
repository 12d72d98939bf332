package upkeep

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
)

// partitionPoll is how soon EC2 is asked again for the partition of an instance
// whose node has not registered yet.
const partitionPoll = 5 * time.Second

// Partition writes the partition of a placement group that EC2 has put an
// instance into on its claim, from where the node gets it, or on the node if that
// was faster. CreateFleet does not tell it; DescribeInstances does.
type Partition struct {
	Client client.Client
	// Get describes an instance by provider ID.
	Get func(ctx context.Context, providerID string) (provider.Instance, error)
}

// SetupWithManager registers the reconciler.
func (p *Partition) SetupWithManager(mgr ctrl.Manager) error {
	if err := ctrl.NewControllerManagedBy(mgr).Named("partition").For(&karpv1.NodeClaim{}).Complete(p); err != nil {
		return fmt.Errorf("set up the partition controller: %w", err)
	}
	return nil
}

// Reconcile implements reconcile.Reconciler.
func (p *Partition) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	claim := &karpv1.NodeClaim{}
	if err := p.Client.Get(ctx, req.NamespacedName, claim); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if foreign(claim) || claim.Labels[awsv1.LabelPlacementGroupID] == "" || claim.Labels[awsv1.LabelPlacementGroupPartition] != "" ||
		claim.Status.ProviderID == "" || !claim.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil
	}
	instance, err := p.Get(ctx, claim.Status.ProviderID)
	if err != nil && provider.KindOf(err) == provider.NotFound {
		return reconcile.Result{}, nil // its claim ends for that
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("ask for the partition of %s: %w", claim.Name, err)
	}
	number := instance.Labels[awsv1.LabelPlacementGroupPartition]
	if number == "" {
		if meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionRegistered) {
			return reconcile.Result{}, nil // the group has no partitions
		}
		return reconcile.Result{RequeueAfter: partitionPoll}, nil
	}
	if err := p.label(ctx, claim, number); err != nil || claim.Status.NodeName == "" {
		return reconcile.Result{}, err
	}
	node := &corev1.Node{}
	if err := p.Client.Get(ctx, types.NamespacedName{Name: claim.Status.NodeName}, node); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	return reconcile.Result{}, p.label(ctx, node, number)
}

func (p *Partition) label(ctx context.Context, o client.Object, number string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, awsv1.LabelPlacementGroupPartition, number)
	target, ok := o.DeepCopyObject().(client.Object) // a patch writes the answer into what it is given
	if !ok {
		return nil
	}
	if err := p.Client.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("label %s with its partition: %w", o.GetName(), err)
	}
	return nil
}
