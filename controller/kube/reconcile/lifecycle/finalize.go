package lifecycle

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/metric"
)

// terminationPoll is how often an instance that is shutting down is checked.
const terminationPoll = time.Second

// finalize removes what a deleted claim stands for: first the node, whose own finalizer
// drains it, then the instance. It removes the claim's finalizer last.
func (r *Reconciler) finalize(ctx context.Context, claim *karpv1.NodeClaim) (reconcile.Result, error) {
	if !controllerutil.ContainsFinalizer(claim, karpv1.FinalizerTermination) {
		return reconcile.Result{}, nil
	}
	node, err := r.nodeOf(ctx, claim)
	if err != nil {
		return reconcile.Result{}, err
	}
	if node != nil && controllerutil.ContainsFinalizer(node, karpv1.FinalizerTermination) {
		if err := r.deadline(ctx, claim, node); err != nil {
			return ignoreRace(err)
		}
		if node.DeletionTimestamp.IsZero() {
			if err := r.Client.Delete(ctx, node); client.IgnoreNotFound(err) != nil {
				return reconcile.Result{}, fmt.Errorf("delete node %s: %w", node.Name, err)
			}
		}
		return reconcile.Result{}, nil // the node's deletion causes the next reconciliation
	}
	gone, err := r.end(ctx, claim)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !gone {
		return reconcile.Result{RequeueAfter: terminationPoll}, nil
	}
	if node != nil { // it joined but has no finalizer of ours: nothing else would remove it
		if err := r.Client.Delete(ctx, node); client.IgnoreNotFound(err) != nil {
			return reconcile.Result{}, fmt.Errorf("delete node %s: %w", node.Name, err)
		}
	}
	base := claim.DeepCopy()
	controllerutil.RemoveFinalizer(claim, karpv1.FinalizerTermination)
	if err := r.write(ctx, claim, base); err != nil {
		return ignoreRace(fmt.Errorf("release %s: %w", claim.Name, err))
	}
	ending := time.Duration(0)
	if c := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionInstanceTerminating); c != nil {
		ending = r.Clock.Since(c.LastTransitionTime.Time)
	}
	r.Metrics.Terminated(metric.SubjectOf(claim.Labels), r.Clock.Since(claim.DeletionTimestamp.Time), ending)
	return reconcile.Result{}, nil
}

// deadline writes on claim and node until when draining may take, from the claim's
// terminationGracePeriod, unless a deadline is set already.
func (r *Reconciler) deadline(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	grace := claim.Spec.TerminationGracePeriod
	at := claim.Annotations[karpv1.AnnotationTerminationTimestamp]
	switch {
	case at == "" && grace == nil:
		return nil
	case at == "":
		at = claim.DeletionTimestamp.Add(grace.Duration).UTC().Format(time.RFC3339)
		if err := r.patchMeta(ctx, claim, func() { claim.Annotations[karpv1.AnnotationTerminationTimestamp] = at }); err != nil {
			return fmt.Errorf("write deadline on %s: %w", claim.Name, err)
		}
	}
	if node.Annotations[karpv1.AnnotationTerminationTimestamp] != "" {
		return nil
	}
	base := node.DeepCopy()
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	node.Annotations[karpv1.AnnotationTerminationTimestamp] = at
	if err := r.Client.Patch(ctx, node, client.MergeFrom(base)); err != nil {
		return fmt.Errorf("write deadline on node %s: %w", node.Name, err)
	}
	return nil
}

// end terminates the claim's instances and reports whether they are all gone. A claim
// whose launch was interrupted has no provider ID: its instance is found by its tag.
func (r *Reconciler) end(ctx context.Context, claim *karpv1.NodeClaim) (bool, error) {
	if claim.Status.ProviderID != "" {
		return r.terminate(ctx, claim, claim.Status.ProviderID)
	}
	if claim.Annotations[karpv1.AnnotationAttempt] == "" {
		return true, nil
	}
	instances, err := r.Provider.List(ctx)
	if err != nil {
		return false, fmt.Errorf("look for instances of %s: %w", claim.Name, err)
	}
	gone := true
	for i := range instances {
		if instances[i].Claim == claim.Name {
			one, err := r.terminate(ctx, claim, instances[i].ProviderID)
			if err != nil {
				return false, err
			}
			gone = gone && one
		}
	}
	return gone, nil
}

// shuttingDown is the state of an instance that was told to terminate, as EC2 names it.
const shuttingDown = "shutting-down"

// terminate ends an instance and reports whether it is gone. That it was told to terminate is
// the cloud's to say: others may write the claim's condition.
func (r *Reconciler) terminate(ctx context.Context, claim *karpv1.NodeClaim, id string) (bool, error) {
	in, err := r.Provider.Get(ctx, id)
	if err != nil {
		if provider.KindOf(err) == provider.NotFound {
			return true, nil
		}
		return false, fmt.Errorf("look at instance %s: %w", id, err)
	}
	if in.State == shuttingDown && condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInstanceTerminating) {
		return false, nil
	}
	if err := r.Provider.Terminate(ctx, id); err != nil {
		if provider.KindOf(err) == provider.NotFound {
			return true, nil
		}
		return false, fmt.Errorf("terminate instance %s: %w", id, err)
	}
	condition.True(&claim.Status.Conditions, claim.Generation, karpv1.ConditionInstanceTerminating)
	if err := r.Client.Status().Update(ctx, claim); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("write status of %s: %w", claim.Name, err)
	}
	return false, nil
}
