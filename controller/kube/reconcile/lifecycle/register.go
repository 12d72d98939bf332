package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/reconcile/readiness"
	"spokeshave.dev/controller/kube/reconcile/reservation"
)

// readyTimeout is how long registration waits for a node to be ready before it removes
// the unregistered taint anyway. Without this, a node whose network plug-in does not
// tolerate the taint would never become ready.
const readyTimeout = 30 * time.Second

// unreadyToldAfter is how long a node may be unready before its claim says so. Most nodes
// are ready by then, and the write is saved.
const unreadyToldAfter = 5 * time.Second

// taintPropagation is how long pods are kept off a node after it has lost the
// unregistered taint. That taint evicts: kube-controller-manager deletes pods that are
// bound before its watch shows the node without the taint (14 of 2,000 when all were
// bound at once).
const taintPropagation = time.Second

// register gives the node its claim's labels, taints and finalizer, and replaces the
// unregistered taint by a reservation that no pod tolerates. Once the node is ready and
// other components have seen that change, the planned pods may use it. wait is after how
// long to call it again at the latest, 0 when the node is registered.
func (r *Reconciler) register(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) (wait time.Duration, err error) {
	if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionRegistered) {
		return 0, nil
	}
	if err := r.adopt(ctx, claim, node); err != nil {
		return 0, err
	}
	age := r.Clock.Since(node.CreationTimestamp.Time)
	if left := readyTimeout - age; left > 0 && !takesPods(node) {
		if age < unreadyToldAfter {
			return unreadyToldAfter - age, nil
		}
		condition.Unknown(&claim.Status.Conditions, claim.Generation, karpv1.ConditionRegistered, "NodeNotReady", "node "+node.Name+" has joined and is not ready yet")
		return left, nil
	}
	if left := r.propagation(claim, node); left > 0 {
		return left, nil
	}
	return 0, r.admit(ctx, claim, node)
}

// propagation returns for how long pods are still kept off a node whose unregistered taint
// was replaced. After a restart the wait starts again.
func (r *Reconciler) propagation(claim *karpv1.NodeClaim, node *corev1.Node) time.Duration {
	if !slices.ContainsFunc(node.Spec.Taints, reservation.IsTaint) {
		return 0
	}
	now := r.Clock.Now()
	since, _ := r.taintReplaced.LoadOrStore(claim.UID, now)
	at, _ := since.(time.Time)
	return max(0, taintPropagation-now.Sub(at))
}

func isUnregistered(t corev1.Taint) bool { return t.Key == karpv1.TaintKeyUnregistered }

// takesPods reports whether the node is ready and has no node.kubernetes.io taint, so
// that only the unregistered taint and the claim's own keep pods off.
func takesPods(node *corev1.Node) bool {
	return readiness.IsReady(node) && !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return strings.HasPrefix(t.Key, "node.kubernetes.io/")
	})
}

// admit marks the node as registered and lets its planned pods in. A node that has all it
// needs is marked as initialized with the same write. If the pods cannot start on it yet,
// it removes the reservation, unless it has to stay, so that the DaemonSets that make the
// node ready can run.
func (r *Reconciler) admit(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	base := node.DeepCopy()
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	node.Labels[karpv1.LabelRegistered] = "true"
	reserve := r.reserveUninitialized
	if readiness.Uninitialized(claim, node) == "" {
		reserve = r.markInitialized
	}
	if err := reserve(ctx, claim, node); err != nil {
		return err
	}
	if err := r.writeNode(ctx, node, base); err != nil {
		return fmt.Errorf("register node %s: %w", node.Name, err)
	}
	r.taintReplaced.Delete(claim.UID)
	claim.Status.NodeName = node.Name
	condition.True(&claim.Status.Conditions, claim.Generation, karpv1.ConditionRegistered)
	logr.FromContextOrDiscard(ctx).Info("node is registered", "node", node.Name, "claim", claim.Name)
	return nil
}

// reserveUninitialized reserves a node that lacks something for its planned pods, if they
// can start on it or the node cannot need a DaemonSet before. It changes node in memory. A
// node that joined without the unregistered taint is not reserved before it is initialized.
func (r *Reconciler) reserveUninitialized(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	keep := slices.ContainsFunc(node.Spec.Taints, reservation.IsTaint)
	if keep && !reservation.PodsCanStart(claim, node) {
		var err error
		if keep, err = r.Reservations.HoldUninitialized(ctx, claim, node); err != nil {
			return err
		}
	}
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, reservation.IsTaint)
	if keep {
		node.Spec.Taints = append(node.Spec.Taints, karpv1.ReservedTaint(claim.UID))
	}
	return nil
}

// adopt writes the claim's labels, annotations, taints and finalizer on the node, and
// replaces the unregistered taint, when the node is ready at the latest. It writes the claim's
// taints only the first time, because startup taints may be removed before the node is
// registered.
func (r *Reconciler) adopt(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) error {
	base := node.DeepCopy()
	first := !controllerutil.ContainsFinalizer(node, karpv1.FinalizerTermination)
	bare := first && !slices.ContainsFunc(node.Spec.Taints, isUnregistered)
	if node.Labels == nil {
		node.Labels = map[string]string{}
	}
	maps.Copy(node.Labels, nodeLabels(claim))
	if node.Annotations == nil {
		node.Annotations = map[string]string{}
	}
	for key, value := range claim.Annotations {
		if !strings.HasPrefix(key, karpv1.Domain) {
			node.Annotations[key] = value
		}
	}
	controllerutil.AddFinalizer(node, karpv1.FinalizerTermination)
	setOwner(node, claim)
	if first && node.Labels[karpv1.LabelDoNotSyncTaints] != "true" {
		node.Spec.Taints = mergeTaints(node.Spec.Taints, claim.Spec.Taints)
		node.Spec.Taints = mergeTaints(node.Spec.Taints, claim.Spec.StartupTaints)
	}
	replaced := slices.ContainsFunc(node.Spec.Taints, isUnregistered)
	if replaced && !takesPods(node) && r.Clock.Since(node.CreationTimestamp.Time) < readyTimeout {
		needed, err := r.Reservations.NeedsUnregistered(ctx)
		if err != nil {
			return err
		}
		replaced = !needed
	}
	if replaced {
		node.Spec.Taints = mergeTaints(slices.DeleteFunc(node.Spec.Taints, isUnregistered), []corev1.Taint{karpv1.ClosedTaint()})
	}
	if err := r.writeNode(ctx, node, base); err != nil {
		return fmt.Errorf("adopt node %s: %w", node.Name, err)
	}
	if replaced {
		r.taintReplaced.Store(claim.UID, r.Clock.Now())
	}
	if bare {
		r.Events.Eventf(claim, nil, corev1.EventTypeWarning, karpv1.EventUnregisteredTaintMissing, "Register",
			"node %s joined without taint %s: the scheduler may have bound pods there before it had its labels and taints; add it in the user data", node.Name, karpv1.TaintKeyUnregistered)
	}
	return nil
}

// writeNode writes what differs from base, if anything does, unless others have written
// since: the write replaces the whole list of taints.
func (r *Reconciler) writeNode(ctx context.Context, node, base *corev1.Node) error {
	if equality.Semantic.DeepEqual(base, node) {
		return nil
	}
	return r.Client.Patch(ctx, node, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
}

func setOwner(node *corev1.Node, claim *karpv1.NodeClaim) {
	ref := metav1.OwnerReference{
		APIVersion: karpv1.GroupVersion.String(), Kind: "NodeClaim", Name: claim.Name, UID: claim.UID,
		BlockOwnerDeletion: new(true),
	}
	node.OwnerReferences = slices.DeleteFunc(node.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == claim.UID })
	node.OwnerReferences = append(node.OwnerReferences, ref)
}

func mergeTaints(have, add []corev1.Taint) []corev1.Taint {
	for _, t := range add {
		if !slices.ContainsFunc(have, func(h corev1.Taint) bool { return h.MatchTaint(&t) }) {
			have = append(have, t)
		}
	}
	return have
}
