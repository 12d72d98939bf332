// Package reservation keeps a new node for the pods that were planned on it, from the
// moment it takes pods until they are bound. A reserved node bears a taint that only
// these pods tolerate: the controller adds the toleration to them. Without it, the
// scheduler may bind other pods there, or bind the planned pods to other nodes of the
// plan than the ones that were sized for them (ADR 27).
//
// A reservation begins when the node is registered or initialized
// ([Reservations.Close]), and ends when no pod of the decision waits any more or when it
// has lasted long enough ([Reservations.Open]), when the controller stops ([Releaser]),
// or, after a crash, by hand ([StaleReporter] reports what is left over).
package reservation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/reconcile/readiness"
)

const (
	// duration is how long pods that were not planned on a node are kept off it, counted
	// from the last progress of its decision: the last of its nodes was initialized, or
	// the last of its pods was bound. The scheduler backs off for up to ten seconds from
	// a pod that it has tried in vain, and tries it again within this time.
	duration = 12 * time.Second
	// durationSpread is the same when all pods that wait count reserved nodes as no
	// domains of their topology spread, and so may wait for the reservation to end.
	durationSpread = 3 * time.Second
	// maxDuration is how long a reservation lasts at most, counted from the node's own
	// initialization.
	maxDuration = 24 * time.Second
	// pollInterval is how often to look whether the planned pods are bound.
	pollInterval = 250 * time.Millisecond
	// preparePoll is how often to look, while an instance boots, whether the planned pods
	// have their tolerations: pods that were planned while others were written come later.
	preparePoll = time.Second
)

// Reservations closes new nodes to all but their planned pods, and opens them again.
// Its methods may be called by several goroutines, for one claim by one at a time.
type Reservations struct {
	client   client.Client
	clock    clock.Clock
	progress decisionProgress
	writer   tolerationWriter
}

// New returns Reservations that read and write by c and take the time from clk.
func New(c client.Client, clk clock.Clock) *Reservations {
	return &Reservations{client: c, clock: clk}
}

// IsTaint says whether t is the taint of a reservation.
func IsTaint(t corev1.Taint) bool { return t.Key == karpv1.TaintKeyReserved }

// PodsCanStart says whether the node's planned pods can start on it at once. A node on
// which they cannot is not reserved as a rule, because the reservation may keep off the
// DaemonSet that has to make the node ready. The taint not-ready is no obstacle:
// kube-controller-manager removes it as soon as it sees that the node is ready, and
// the reservation has to be there before.
func PodsCanStart(claim *karpv1.NodeClaim, node *corev1.Node) bool {
	return readiness.Missing(claim, node) == "" && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key != corev1.TaintNodeNotReady && (strings.HasPrefix(t.Key, "node.kubernetes.io/") || readiness.Ephemeral(&t))
	})
}

// Close adds the reservation to a node on which planned pods can start, and removes it
// from a node on which they cannot, or for which no pod waits. It changes node in
// memory; the caller writes it and calls [Reservations.Open], which writes the pods.
func (r *Reservations) Close(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	keep := false
	if PodsCanStart(claim, node) {
		waiting, _, err := r.waiting(ctx, claim)
		if err != nil {
			return err
		}
		if keep = waiting > 0; !keep && r.bound(ctx, claim, node) {
			if keep, err = r.lasts(ctx, claim, r.clock.Now()); err != nil {
				return err
			}
		}
	}
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, IsTaint)
	if keep {
		node.Spec.Taints = append(node.Spec.Taints, karpv1.ReservedTaint(claim.UID))
	}
	return nil
}

// Open gives the planned pods that lack it the toleration of the node's reservation, and
// ends the reservation when no pod of its decision waits any more, or when it has lasted
// long enough. It is for nodes that are registered. It returns when to call it again, and
// 0 when the node is open to all.
func (r *Reservations) Open(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) (time.Duration, error) {
	if !slices.ContainsFunc(node.Spec.Taints, IsTaint) {
		return 0, nil
	}
	keep, poll := false, pollInterval
	var err error
	if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInitialized) {
		keep, err = r.lasts(ctx, claim, meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionInitialized).LastTransitionTime.Time)
	} else {
		poll = uninitializedPoll
		keep, err = r.admitEarly(ctx, claim, node)
	}
	if err != nil || keep {
		return poll, err
	}
	return 0, unreserve(ctx, r.client, node)
}

// admitEarly says whether a node that is not initialized stays reserved, and lets its
// planned pods in if so: one that tolerates a startup taint may be what lifts it.
func (r *Reservations) admitEarly(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) (bool, error) {
	keep, err := r.HoldUninitialized(ctx, claim, node)
	if err != nil || !keep {
		return false, err
	}
	_, without, err := r.waiting(ctx, claim)
	r.addTolerations(ctx, claim.UID, without)
	return true, err
}

// unreserve removes the reservation from a node and writes it. A node that is not registered
// yet gets the unregistered taint back, so that whoever acts next registers it.
func unreserve(ctx context.Context, c client.Client, node *corev1.Node) error {
	base := node.DeepCopy()
	closed := slices.Contains(node.Spec.Taints, karpv1.ClosedTaint())
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, IsTaint)
	if closed {
		node.Spec.Taints = append(node.Spec.Taints, karpv1.UnregisteredTaint())
	}
	if err := c.Patch(ctx, node, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("end reservation of node %s: %w", node.Name, err)
	}
	return nil
}

// lasts says whether a reservation that began at since goes on: while pods of the
// decision wait, for [duration] after the decision's last progress.
func (r *Reservations) lasts(ctx context.Context, claim *karpv1.NodeClaim, since time.Time) (bool, error) {
	if r.clock.Since(since) >= maxDuration {
		return false, nil
	}
	waiting, without, err := r.waiting(ctx, claim)
	if err != nil {
		return false, err
	}
	r.addTolerations(ctx, claim.UID, without)
	others, err := r.decisionState(ctx, claim.Annotations[karpv1.AnnotationDecision])
	if err != nil {
		return false, err
	}
	return (waiting > 0 || others.waiting > 0) && min(r.clock.Since(since), r.clock.Since(others.lastProgress())) < others.duration(), nil
}
