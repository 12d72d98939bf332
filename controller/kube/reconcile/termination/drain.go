package termination

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/lower"
	"spokeshave.dev/controller/kube/reconcile/index"
)

// drainingNode is a node that is being removed, and the reason, "" when the controller did
// not decide it.
type drainingNode struct {
	*corev1.Node

	reason string
}

// disruptionReason returns the reason for which the controller deleted a claim, "" for none.
func disruptionReason(claim *karpv1.NodeClaim) string {
	if claim == nil {
		return ""
	}
	if c := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionDisruptionReason); c != nil {
		return c.Reason
	}
	return ""
}

// drain evicts the first group of pods that still has members, and returns how many
// pods are left in all groups. The order is Karpenter's: other pods before those of
// DaemonSets, and critical pods after the others.
func (r *Reconciler) drain(ctx context.Context, node *drainingNode) (int, error) {
	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, client.MatchingFields{index.NodeName: node.Name}); err != nil {
		return 0, fmt.Errorf("list pods of node %s: %w", node.Name, err)
	}
	var groups [4][]*corev1.Pod
	left := 0
	for i := range pods.Items {
		if p := &pods.Items[i]; isDrainable(p) && !r.isStuck(p) {
			groups[drainGroup(p)] = append(groups[drainGroup(p)], p)
			left++
		}
	}
	at := slices.IndexFunc(groups[:], func(g []*corev1.Pod) bool { return len(g) > 0 })
	if at < 0 {
		return 0, nil
	}
	var failed []error // an error with one pod does not stop the others
	for g := range groups {
		for _, p := range groups[g] {
			failed = append(failed, r.drainPod(ctx, node, p, g == at))
		}
	}
	return left, errors.Join(failed...)
}

// drainPod makes one pod leave. A pod whose group's turn it is is evicted, unless it is
// protected. A pod that would outlast the node's deadline is deleted, early enough to
// have its own grace period.
func (r *Reconciler) drainPod(ctx context.Context, node *drainingNode, p *corev1.Pod, turn bool) error { //nolint:revive // the turn is the caller's to know
	if late, grace := r.mustStopNow(node.Node, p); late {
		return r.deletePod(ctx, node, p, grace)
	}
	if !turn || !p.DeletionTimestamp.IsZero() || lower.IsProtected(p, r.Clock.Now()) {
		return nil
	}
	return r.evict(ctx, node, p)
}

// mustStopNow reports whether a pod must begin to stop now in order to be gone by the node's
// deadline, and the grace period it may then have. That includes a pod that is stopping
// already and would take longer.
func (r *Reconciler) mustStopNow(node *corev1.Node, p *corev1.Pod) (late bool, grace time.Duration) {
	at, err := time.Parse(time.RFC3339, node.Annotations[karpv1.AnnotationTerminationTimestamp])
	if err != nil {
		return false, 0
	}
	left := max(0, at.Sub(r.Clock.Now()))
	if !p.DeletionTimestamp.IsZero() {
		// The pod's deletion timestamp is when its grace period ends.
		return p.DeletionTimestamp.After(at.Add(time.Second)), left
	}
	own := 30 * time.Second // the API's default
	if s := p.Spec.TerminationGracePeriodSeconds; s != nil {
		own = time.Duration(*s) * time.Second
	}
	return left <= own, left
}

// deletePod deletes a pod regardless of disruption budgets and annotations.
func (r *Reconciler) deletePod(ctx context.Context, node *drainingNode, p *corev1.Pod, grace time.Duration) error {
	seconds := client.GracePeriodSeconds(max(1, int64(grace/time.Second)))
	err := r.Client.Delete(ctx, p.DeepCopy(), seconds, client.Preconditions{UID: &p.UID})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if codeOf(err) != http.StatusOK && codeOf(err) != 0 { // refused, for example by a webhook: the node is terminated all the same
		r.Events.Eventf(node.Node, p, corev1.EventTypeWarning, karpv1.EventFailedDraining, "Terminate", "pod %s/%s cannot be deleted: %v", p.Namespace, p.Name, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	if p.DeletionTimestamp.IsZero() {
		r.Metrics.PodDrained(node.reason)
	}
	r.Events.Eventf(p, node.Node, corev1.EventTypeNormal, karpv1.EventDisrupted, "Terminate",
		"deleted: node %s ends at %s by its terminationGracePeriod", node.Name, node.Annotations[karpv1.AnnotationTerminationTimestamp])
	return nil
}

// isStuck reports whether a pod should have been gone for a minute: its kubelet does not
// respond, and waiting does not help.
func (r *Reconciler) isStuck(p *corev1.Pod) bool {
	return !p.DeletionTimestamp.IsZero() && r.Clock.Since(p.DeletionTimestamp.Time) > time.Minute
}

// isDrainable reports whether the drain waits for a pod. It does not wait for finished pods
// and for those that stay.
func isDrainable(p *corev1.Pod) bool { return !isFinished(p) && !staysOnNode(p) }

func isFinished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// staysOnNode reports whether a pod is left on the node until the node is gone: static pods,
// and pods that tolerate the disruption taint.
func staysOnNode(p *corev1.Pod) bool {
	if owner := metav1.GetControllerOf(p); owner != nil && owner.Kind == "Node" {
		return true
	}
	taint := karpv1.DisruptedTaint()
	return slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(logr.Discard(), &taint, false)
	})
}

func drainGroup(p *corev1.Pod) int {
	g := 0
	if owner := metav1.GetControllerOf(p); owner != nil && owner.Kind == "DaemonSet" {
		g++
	}
	if c := p.Spec.PriorityClassName; c == "system-cluster-critical" || c == "system-node-critical" {
		g += 2
	}
	return g
}

// evict requests the eviction of a pod. A refusal, by a PodDisruptionBudget, because
// several budgets select the pod, or by a webhook, becomes an event on the node and no
// error; the next reconciliation tries again.
func (r *Reconciler) evict(ctx context.Context, node *drainingNode, p *corev1.Pod) error {
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: p.Namespace, Name: p.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &p.UID}},
	}
	err := r.Client.SubResource("eviction").Create(ctx, p.DeepCopy(), eviction)
	code := codeOf(err)
	r.Metrics.Eviction(code)
	switch {
	case err == nil:
		r.Metrics.PodDrained(node.reason)
		r.Events.Eventf(p, node.Node, corev1.EventTypeNormal, karpv1.EventEvicted, "Evict", "evicted, node %s is being terminated", node.Name)
		return nil
	case apierrors.IsNotFound(err) || apierrors.IsConflict(err):
		return nil // gone, or replaced by another pod of the same name
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // being deleted with its namespace
	case code != 0:
		r.Events.Eventf(node.Node, p, corev1.EventTypeWarning, karpv1.EventFailedDraining, "Evict", "pod %s/%s cannot be evicted yet: %v", p.Namespace, p.Name, err)
		return nil
	default:
		return fmt.Errorf("evict pod %s/%s: %w", p.Namespace, p.Name, err)
	}
}

// codeOf returns the HTTP status of the API server's answer, 0 when there was no
// answer.
func codeOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}
