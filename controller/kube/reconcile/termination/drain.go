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

// departure is a node on its way out, and the reason that it goes for: empty when
// somebody else deleted it.
type departure struct {
	*corev1.Node

	reason string
}

// why is the reason that a claim was deleted for, if it was decided here.
func why(claim *karpv1.NodeClaim) string {
	if claim == nil {
		return ""
	}
	if c := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionDisruptionReason); c != nil {
		return c.Reason
	}
	return ""
}

// drain evicts the first group of pods that still has members, and returns how
// many pods are left in all. The order is Karpenter's: workload before
// DaemonSets, critical pods after the others.
func (r *Reconciler) drain(ctx context.Context, node *departure) (int, error) {
	var pods corev1.PodList
	if err := r.Client.List(ctx, &pods, client.MatchingFields{index.NodeName: node.Name}); err != nil {
		return 0, fmt.Errorf("list pods of node %s: %w", node.Name, err)
	}
	var groups [4][]*corev1.Pod
	left := 0
	for i := range pods.Items {
		if p := &pods.Items[i]; leaves(p) && !r.stuck(p) {
			groups[group(p)] = append(groups[group(p)], p)
			left++
		}
	}
	at := slices.IndexFunc(groups[:], func(g []*corev1.Pod) bool { return len(g) > 0 })
	if at < 0 {
		return 0, nil
	}
	var failed []error // one pod does not keep the others
	for g := range groups {
		for _, p := range groups[g] {
			failed = append(failed, r.send(ctx, node, p, g == at))
		}
	}
	return left, errors.Join(failed...)
}

// send makes one pod leave. Pods whose turn it is are evicted, unless they are
// protected; those for which the node's deadline comes first are deleted, early
// enough to have their own grace period.
func (r *Reconciler) send(ctx context.Context, node *departure, p *corev1.Pod, turn bool) error { //nolint:revive // the turn is the caller's to know
	if late, grace := r.late(node.Node, p); late {
		return r.remove(ctx, node, p, grace)
	}
	if !turn || !p.DeletionTimestamp.IsZero() || lower.Protected(p, r.Clock.Now()) {
		return nil
	}
	return r.evict(ctx, node, p)
}

// late says whether a pod must begin to stop now to be gone by the node's
// deadline, and how long it may then take. A pod that is stopping already and
// would overrun is hurried.
func (r *Reconciler) late(node *corev1.Node, p *corev1.Pod) (late bool, grace time.Duration) {
	at, err := time.Parse(time.RFC3339, node.Annotations[karpv1.AnnotationTerminationTimestamp])
	if err != nil {
		return false, 0
	}
	left := max(0, at.Sub(r.Clock.Now()))
	if !p.DeletionTimestamp.IsZero() {
		// Its own deletion timestamp is when it will have ended.
		return p.DeletionTimestamp.After(at.Add(time.Second)), left
	}
	own := 30 * time.Second // the API's default
	if s := p.Spec.TerminationGracePeriodSeconds; s != nil {
		own = time.Duration(*s) * time.Second
	}
	return left <= own, left
}

// remove deletes a pod past its disruption budgets and annotations.
func (r *Reconciler) remove(ctx context.Context, node *departure, p *corev1.Pod, grace time.Duration) error {
	seconds := client.GracePeriodSeconds(max(1, int64(grace/time.Second)))
	err := r.Client.Delete(ctx, p.DeepCopy(), seconds, client.Preconditions{UID: &p.UID})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if codeOf(err) != http.StatusOK && codeOf(err) != 0 { // a webhook, say: the node's end does not wait for it
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

// stuck says whether a pod should have been gone a minute ago: its kubelet
// does not answer, and nothing is won by waiting.
func (r *Reconciler) stuck(p *corev1.Pod) bool {
	return !p.DeletionTimestamp.IsZero() && r.Clock.Since(p.DeletionTimestamp.Time) > time.Minute
}

// leaves says whether the drain waits for a pod: not for finished ones, and those
// that stay.
func leaves(p *corev1.Pod) bool { return !finished(p) && !stays(p) }

func finished(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}

// stays says whether a pod is left on the node to its end: static ones, and those
// that tolerate the disruption taint.
func stays(p *corev1.Pod) bool {
	if owner := metav1.GetControllerOf(p); owner != nil && owner.Kind == "Node" {
		return true
	}
	taint := karpv1.DisruptedTaint()
	return slices.ContainsFunc(p.Spec.Tolerations, func(t corev1.Toleration) bool {
		return t.ToleratesTaint(logr.Discard(), &taint, false)
	})
}

func group(p *corev1.Pod) int {
	g := 0
	if owner := metav1.GetControllerOf(p); owner != nil && owner.Kind == "DaemonSet" {
		g++
	}
	if c := p.Spec.PriorityClassName; c == "system-cluster-critical" || c == "system-node-critical" {
		g += 2
	}
	return g
}

// evict asks the API server to evict. A refusal is an event on the node, not an
// error: by a PodDisruptionBudget, because the pod has several, or by a webhook. It
// is asked again as long as the node waits.
func (r *Reconciler) evict(ctx context.Context, node *departure, p *corev1.Pod) error {
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
		return nil // gone, or another pod by now
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return nil // on its way out with its namespace
	case code != 0:
		r.Events.Eventf(node.Node, p, corev1.EventTypeWarning, karpv1.EventFailedDraining, "Evict", "pod %s/%s cannot be evicted yet: %v", p.Namespace, p.Name, err)
		return nil
	default:
		return fmt.Errorf("evict pod %s/%s: %w", p.Namespace, p.Name, err)
	}
}

// codeOf is the HTTP code of an answer, 0 where there was none.
func codeOf(err error) int {
	if err == nil {
		return http.StatusOK
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return int(status.Status().Code)
	}
	return 0
}
