package upkeep

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Memory tells the provider what registered nodes report of their memory. All
// nodes are looked at when the controller starts, so that nothing is lost.
type Memory struct {
	Client client.Client
	// Learn takes a type, an image and the capacity in bytes.
	Learn func(instanceType, image string, capacity int64)
}

// SetupWithManager registers the reconciler.
func (m *Memory) SetupWithManager(mgr ctrl.Manager) error {
	if err := ctrl.NewControllerManagedBy(mgr).Named("memory").For(&karpv1.NodeClaim{}).Complete(m); err != nil {
		return fmt.Errorf("set up the memory controller: %w", err)
	}
	return nil
}

// Reconcile implements reconcile.Reconciler.
func (m *Memory) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	claim := &karpv1.NodeClaim{}
	if err := m.Client.Get(ctx, req.NamespacedName, claim); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if foreign(claim) || !meta.IsStatusConditionTrue(claim.Status.Conditions, karpv1.ConditionInitialized) || claim.Status.NodeName == "" {
		return reconcile.Result{}, nil
	}
	node := &corev1.Node{}
	if err := m.Client.Get(ctx, types.NamespacedName{Name: claim.Status.NodeName}, node); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	m.Learn(claim.Labels[corev1.LabelInstanceTypeStable], claim.Status.ImageID, node.Status.Capacity.Memory().Value())
	return reconcile.Result{}, nil
}
