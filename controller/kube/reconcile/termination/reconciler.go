// Package termination removes nodes: it taints the node, drains it through the Eviction
// API, waits until volumes are detached, terminates the instance, and then lets the
// Node object be deleted. It does so for every managed node that is deleted, by the
// controller or by anyone else.
package termination

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/managed"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/reconcile/index"
)

// poll is how often a drain is checked: pods that leave cause no event here.
const poll = time.Second

// minDrainTime is how long a drain takes at least after the node's deletion, as in
// Karpenter. A scheduler that has not seen the taint yet may still bind pods, and they are
// evicted like the others.
const minDrainTime = 5 * time.Second

// Reconciler terminates deleted nodes.
type Reconciler struct {
	Client   client.Client
	Provider provider.Provider
	Events   events.EventRecorder
	Clock    clock.Clock
	Workers  int
	// Metrics may be nil.
	Metrics *metric.Reconcilers

	// announcedDeadlines holds, by node, the deadline of the last event about it.
	announcedDeadlines sync.Map
}

// SetupWithManager registers the controller.
func (r *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		Named("node.termination").
		For(&corev1.Node{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: r.Workers}).
		Complete(reconcile.AsReconciler(mgr.GetClient(), r))
}

// Reconcile takes the termination of a deleted node one step further.
func (r *Reconciler) Reconcile(ctx context.Context, node *corev1.Node) (reconcile.Result, error) {
	if node.DeletionTimestamp.IsZero() || !controllerutil.ContainsFinalizer(node, karpv1.FinalizerTermination) {
		return reconcile.Result{}, nil
	}
	node = node.DeepCopy()
	claim, err := r.claimOf(ctx, node)
	if err != nil {
		return reconcile.Result{}, err
	}
	if claim == nil && !managed.Node(node) {
		return reconcile.Result{}, nil // another controller's, who uses the same finalizer
	}
	if err := followDeadline(ctx, r.Client, node, claim); err != nil {
		return reconcile.Result{}, err
	}
	done, err := r.steps(ctx, node, claim)
	switch {
	case apierrors.IsConflict(err):
		return reconcile.Result{RequeueAfter: 100 * time.Millisecond}, nil
	case err != nil:
		return reconcile.Result{}, err
	case !done:
		return reconcile.Result{RequeueAfter: poll}, nil
	}
	base := node.DeepCopy()
	controllerutil.RemoveFinalizer(node, karpv1.FinalizerTermination)
	if err := r.Client.Patch(ctx, node, client.MergeFrom(base)); client.IgnoreNotFound(err) != nil {
		return reconcile.Result{}, fmt.Errorf("release node %s: %w", node.Name, err)
	}
	r.announcedDeadlines.Delete(node.Name)
	r.Metrics.NodeTerminated(metric.SubjectOf(node.Labels), r.Clock.Since(node.DeletionTimestamp.Time), r.Clock.Since(node.CreationTimestamp.Time))
	return reconcile.Result{}, nil
}

// claimOf returns the node's claim, nil when there is none.
func (r *Reconciler) claimOf(ctx context.Context, node *corev1.Node) (*karpv1.NodeClaim, error) {
	if node.Spec.ProviderID == "" {
		return nil, nil //nolint:nilnil // a node without a claim is an ordinary answer
	}
	var claims karpv1.NodeClaimList
	if err := r.Client.List(ctx, &claims, client.MatchingFields{index.ProviderID: node.Spec.ProviderID}); err != nil {
		return nil, fmt.Errorf("find claim of node %s: %w", node.Name, err)
	}
	if len(claims.Items) == 0 {
		return nil, nil //nolint:nilnil // as above
	}
	return claims.Items[0].DeepCopy(), nil
}

// steps runs the steps of the termination in order and reports whether all are done.
func (r *Reconciler) steps(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim) (bool, error) {
	if claim != nil && claim.DeletionTimestamp.IsZero() {
		if err := r.Client.Delete(ctx, claim); client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("delete claim %s: %w", claim.Name, err)
		}
	}
	if gone, err := r.instanceGone(ctx, node); err != nil || gone {
		return gone, err
	}
	if err := r.taint(ctx, node); err != nil {
		return false, err
	}
	r.tellDeadline(node, claim)
	overdue := r.isPastDeadline(node)
	left, err := r.drain(ctx, &drainingNode{node, disruptionReason(claim)})
	if err != nil {
		return false, err
	}
	if (left > 0 || claim != nil && isDrainYoung(node, r.Clock.Now())) && !overdue {
		return false, r.setProgress(ctx, claim, karpv1.ConditionDrained, "Draining", fmt.Sprintf("%d pods are still to leave node %s", left, node.Name))
	}
	if claim != nil && !isFinal(claim, karpv1.ConditionDrained) {
		r.Metrics.NodeDrained(metric.SubjectOf(node.Labels))
	}
	if err := r.finishStep(ctx, claim, karpv1.ConditionDrained, left, "pods"); err != nil {
		return false, err
	}
	attached, err := r.attachedVolumes(ctx, node)
	if err != nil {
		return false, err
	}
	if attached > 0 && !overdue {
		r.Events.Eventf(node, nil, corev1.EventTypeNormal, karpv1.EventAwaitingVolumeDetachment, "Terminate", "%d volumes are still attached", attached)
		return false, r.setProgress(ctx, claim, karpv1.ConditionVolumesDetached, "AwaitingVolumeDetachment", fmt.Sprintf("%d volumes are still attached", attached))
	}
	if err := r.finishStep(ctx, claim, karpv1.ConditionVolumesDetached, attached, "volumes"); err != nil {
		return false, err
	}
	return r.terminate(ctx, node, claim)
}

func (r *Reconciler) instanceGone(ctx context.Context, node *corev1.Node) (bool, error) {
	if node.Spec.ProviderID == "" {
		return true, nil
	}
	_, err := r.Provider.Get(ctx, node.Spec.ProviderID)
	switch {
	case err == nil:
		return false, nil
	case provider.KindOf(err) == provider.NotFound:
		return true, nil
	default:
		return false, fmt.Errorf("look at instance of node %s: %w", node.Name, err)
	}
}

// terminate requests the termination of the instance and sets a condition on the claim;
// from then on the node costs nothing. It reports whether the instance is gone.
func (r *Reconciler) terminate(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim) (bool, error) {
	err := r.Provider.Terminate(ctx, node.Spec.ProviderID)
	switch {
	case err == nil:
	case provider.KindOf(err) == provider.NotFound:
		return true, nil
	default:
		r.Events.Eventf(node, nil, corev1.EventTypeWarning, karpv1.EventFailedTermination, "Terminate", "%v", err)
		return false, fmt.Errorf("terminate instance of node %s: %w", node.Name, err)
	}
	if claim == nil || condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInstanceTerminating) {
		return false, nil // look again until it is gone
	}
	return false, r.setProgress(ctx, claim, karpv1.ConditionInstanceTerminating, "", "")
}

// taint keeps new pods off the node and excludes it from load balancers.
func (r *Reconciler) taint(ctx context.Context, node *corev1.Node) error {
	want := karpv1.DisruptedTaint()
	tainted := slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&want) })
	if tainted && node.Labels[corev1.LabelNodeExcludeBalancers] != "" {
		return nil
	}
	base := node.DeepCopy()
	if !tainted {
		node.Spec.Taints = append(node.Spec.Taints, want)
	}
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	node.Labels[corev1.LabelNodeExcludeBalancers] = "karpenter"
	if err := r.Client.Patch(ctx, node, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("taint node %s: %w", node.Name, err)
	}
	return nil
}

// isPastDeadline reports whether the node's termination deadline has passed.
func (r *Reconciler) isPastDeadline(node *corev1.Node) bool {
	at, err := time.Parse(time.RFC3339, node.Annotations[karpv1.AnnotationTerminationTimestamp])
	return err == nil && !r.Clock.Now().Before(at)
}

// isDrainYoung reports whether pods may still be bound to the node by a scheduler that has
// not seen the taint, so that the drain is not over although no pod is left.
func isDrainYoung(node *corev1.Node, now time.Time) bool {
	return now.Sub(node.DeletionTimestamp.Time) < minDrainTime
}

// tellDeadline sends events on node and claim about until when pods may take to stop,
// once per deadline: an interruption may bring the deadline forward.
func (r *Reconciler) tellDeadline(node *corev1.Node, claim *karpv1.NodeClaim) {
	at := node.Annotations[karpv1.AnnotationTerminationTimestamp]
	if at == "" {
		return
	}
	if last, ok := r.announcedDeadlines.Swap(node.Name, at); ok && last == at {
		return
	}
	const text = "all pods are to be gone by %s: those that are not are deleted early enough to have their grace period, whatever protects them"
	r.Events.Eventf(node, nil, corev1.EventTypeWarning, karpv1.EventTerminationGracePeriodExpiring, "Terminate", text, at)
	if claim != nil {
		r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventTerminationGracePeriodExpiring, "Terminate", text, at)
	}
}

// isFinal reports whether a condition has its final value, true or false, so that the
// step it stands for is over.
func isFinal(claim *karpv1.NodeClaim, kind string) bool {
	c := meta.FindStatusCondition(claim.Status.Conditions, kind)
	return c != nil && c.Status != metav1.ConditionUnknown
}

// finishStep sets the condition of a step that is over: true when nothing is left, false
// when the time has run out.
func (r *Reconciler) finishStep(ctx context.Context, claim *karpv1.NodeClaim, kind string, left int, of string) error {
	return r.patchConditions(ctx, claim, func(in *[]metav1.Condition, generation int64) {
		if left == 0 {
			condition.True(in, generation, kind)
			return
		}
		condition.False(in, generation, kind, "TerminationGracePeriodElapsed", fmt.Sprintf("%d %s were left when the time was over", left, of))
	})
}

// setProgress sets a condition on the claim: true when reason is empty, else unknown.
func (r *Reconciler) setProgress(ctx context.Context, claim *karpv1.NodeClaim, kind, reason, message string) error {
	return r.patchConditions(ctx, claim, func(in *[]metav1.Condition, generation int64) {
		if reason == "" {
			condition.True(in, generation, kind)
			return
		}
		condition.Unknown(in, generation, kind, reason, message)
	})
}

// patchConditions changes the claim's conditions. It writes nothing when they stay the
// same, since a drain that waits runs every second.
func (r *Reconciler) patchConditions(ctx context.Context, claim *karpv1.NodeClaim, change func(in *[]metav1.Condition, generation int64)) error {
	if claim == nil {
		return nil
	}
	before := claim.DeepCopy()
	change(&claim.Status.Conditions, claim.Generation)
	if equality.Semantic.DeepEqual(before.Status, claim.Status) {
		return nil
	}
	if err := r.Client.Status().Patch(ctx, claim, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write status of %s: %w", claim.Name, err)
	}
	return nil
}
