package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/condition"
)

// A new node is kept for the pods that were planned on it: it bears a taint that
// they alone tolerate, until they are bound. The scheduler finds them no other
// place among the nodes of the plan, whenever those open and in whatever order it
// tries the pods (ADR 27).
const (
	// reservation is how long pods that were not planned on a node are kept off
	// it, from the moment that the last node of the decision is initialized or the last
	// of its pods was bound: others may wait for just that. The scheduler backs off for
	// ten seconds from a pod that it has tried in vain some times, whatever happens.
	reservation = 12 * time.Second
	// reservationBarred is how long when only such pods wait as reservations
	// themselves may hold back.
	reservationBarred = 3 * time.Second
	// reservationMost is how long in any case, from the node's own initialization.
	reservationMost = 24 * time.Second
	// reservationPoll is how often to look whether the planned pods are bound.
	reservationPoll = 250 * time.Millisecond
)

// reservable says whether the node's planned pods can come at once. Before, the
// taint could keep off the very DaemonSet that has to make the node ready. The taint
// of a node that was not ready goes as soon as kube-controller-manager sees that it
// is: the reservation has to be there first.
func reservable(claim *karpv1.NodeClaim, node *corev1.Node) bool {
	return uninitialized(claim, node) == "" && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return strings.HasPrefix(t.Key, "node.kubernetes.io/") && t.Key != corev1.TaintNodeNotReady
	})
}

// close puts the reservation on a node whose planned pods can come, and takes it off
// one whose cannot, or where nobody is left to wait for. It changes the node in memory.
func (r *Reconciler) close(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	keep := false
	if reservable(claim, node) {
		waiting, err := r.reserve(ctx, claim)
		if err != nil {
			return err
		}
		if keep = waiting > 0; !keep && r.arrived(ctx, claim, node) {
			if keep, err = r.kept(ctx, claim, r.Clock.Now()); err != nil {
				return err
			}
		}
	}
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, isReservation)
	if keep {
		node.Spec.Taints = append(node.Spec.Taints, karpv1.ReservedTaint(claim.UID))
	}
	return nil
}

// arrived says whether a planned pod is on the node already: its toleration can
// reach it before the node could be written.
func (r *Reconciler) arrived(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) bool {
	planned, err := plannedPods(claim)
	return err == nil && slices.ContainsFunc(planned, func(key string) bool {
		namespace, name, _ := strings.Cut(key, "/")
		pod := &corev1.Pod{}
		return r.Client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, pod) == nil && pod.Spec.NodeName == node.Name
	})
}

// reserve returns how many of the planned pods still wait, and has those given the
// toleration of the claim's reservation that are without.
func (r *Reconciler) reserve(ctx context.Context, claim *karpv1.NodeClaim) (int, error) {
	planned, err := plannedPods(claim)
	if err != nil {
		return 0, err
	}
	own, waiting := karpv1.ReservedToleration(claim.UID), 0
	var without []*corev1.Pod
	for _, key := range planned {
		pod, err := r.unbound(ctx, key)
		if err != nil {
			return 0, err
		}
		if pod == nil {
			continue
		}
		waiting++
		if !slices.Contains(pod.Spec.Tolerations, own) {
			without = append(without, pod)
		}
	}
	r.ask(ctx, claim.UID, without)
	return waiting, nil
}

// unbound is a pod that waits, nil for one that has gone, has a node, or was
// refused the toleration: nobody waits for that one.
func (r *Reconciler) unbound(ctx context.Context, key string) (*corev1.Pod, error) {
	namespace, name, _ := strings.Cut(key, "/")
	pod := &corev1.Pod{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, pod)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // it waits no more, which is an ordinary answer
	case err != nil:
		return nil, fmt.Errorf("read planned pod %s: %w", key, err)
	case pod.Spec.NodeName != "" || !pod.DeletionTimestamp.IsZero() || r.favours.denied(pod.UID):
		return nil, nil //nolint:nilnil // as above
	}
	return pod, nil
}

// open ends the reservation of the claim's node when no pod of its decision waits
// any more, or when it has lasted long enough. It returns when to look again; 0
// when the node is open to all.
func (r *Reconciler) open(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) (time.Duration, error) {
	if !slices.ContainsFunc(node.Spec.Taints, isReservation) {
		return 0, nil
	}
	if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInitialized) {
		since := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionInitialized).LastTransitionTime.Time
		kept, err := r.kept(ctx, claim, since)
		if err != nil {
			return 0, err
		}
		if kept {
			return reservationPoll, nil
		}
	} else if keep, err := r.early(ctx, claim, node); err != nil || keep {
		return earlyPoll, err
	}
	return 0, unreserve(ctx, r.Client, node)
}

// unreserve opens a node to all.
func unreserve(ctx context.Context, c client.Client, node *corev1.Node) error {
	base := node.DeepCopy()
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, isReservation)
	if err := c.Patch(ctx, node, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("end reservation of node %s: %w", node.Name, err)
	}
	return nil
}

// kept says whether the reservation goes on: while pods of the decision wait, for
// so long after its last node was initialized or the last of them was bound.
func (r *Reconciler) kept(ctx context.Context, claim *karpv1.NodeClaim, since time.Time) (bool, error) {
	if r.Clock.Since(since) >= reservationMost {
		return false, nil
	}
	waiting, err := r.reserve(ctx, claim)
	if err != nil {
		return false, err
	}
	others, err := r.outstanding(ctx, claim.Annotations[karpv1.AnnotationDecision])
	if err != nil {
		return false, err
	}
	return (waiting > 0 || others.waiting > 0) && min(r.Clock.Since(since), r.Clock.Since(others.moved())) < others.lasts(), nil
}

func isReservation(t corev1.Taint) bool { return t.Key == karpv1.TaintKeyReserved }
