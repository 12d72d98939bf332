package lifecycle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// A new node is kept for the pods that were planned on it: it bears a taint that
// they alone tolerate, until they are bound. The scheduler finds them no other
// place among the nodes of the plan, whenever those open and in whatever order it
// tries the pods (ADR 27).
const (
	// reservation is how long pods that were not planned on a node are kept off
	// it, from the moment that the last node of the decision has registered: its pods
	// may be what others wait for. The scheduler tries a pod again after ten seconds
	// at the latest.
	reservation = 10 * time.Second
	// reservationMost is how long in any case, from the node's own registration.
	reservationMost = 20 * time.Second
	// reservationPoll is how often to look whether the planned pods are bound.
	reservationPoll = 250 * time.Millisecond
	// tolerations is how many pods are written at once.
	tolerations = 16
)

// reservable says whether the node's planned pods can come at once. Before, the
// taint could keep off the very DaemonSet that has to make the node ready.
func reservable(claim *karpv1.NodeClaim, node *corev1.Node) bool {
	return takesPods(node) && unreported(claim, node) == ""
}

// reserve gives the planned pods that still wait the toleration of the claim's
// reservation, and returns how many have it.
func (r *Reconciler) reserve(ctx context.Context, claim *karpv1.NodeClaim) (int, error) {
	planned, err := plannedPods(claim)
	if err != nil {
		return 0, err
	}
	var waiting atomic.Int64
	var work errgroup.Group
	work.SetLimit(tolerations)
	for _, key := range planned {
		work.Go(func() error {
			tolerates, err := r.tolerate(ctx, key, claim.UID)
			if tolerates {
				waiting.Add(1)
			}
			return err
		})
	}
	err = work.Wait()
	return int(waiting.Load()), err
}

// tolerate says whether a pod waits for the claim's node and tolerates its
// reservation, which it is made to if need be. It is a favour: a pod for which
// the API server or an admission webhook refuses it goes without.
func (r *Reconciler) tolerate(ctx context.Context, key string, claim types.UID) (bool, error) {
	pod, err := r.unbound(ctx, key)
	if err != nil || pod == nil {
		return false, err
	}
	own := karpv1.ReservedToleration(claim)
	if slices.Contains(pod.Spec.Tolerations, own) {
		return true, nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": pod.UID},
		"spec":     map[string]any{"tolerations": append(slices.Clone(pod.Spec.Tolerations), own)},
	})
	if err != nil {
		return false, fmt.Errorf("encode tolerations of %s: %w", key, err)
	}
	if err := r.Client.Patch(ctx, pod.DeepCopy(), client.RawPatch(types.MergePatchType, patch)); err != nil {
		// Not found and conflict are the answers for a pod that went or was changed
		// since it was read.
		if !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
			r.refused.Store(pod.UID, r.Clock.Now())
			logr.FromContextOrDiscard(ctx).Info("no node is kept for a planned pod", "pod", key, "refused", err.Error())
		}
		return false, ctx.Err()
	}
	return true, nil
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
	case pod.Spec.NodeName != "" || !pod.DeletionTimestamp.IsZero():
		return nil, nil //nolint:nilnil // as above
	}
	if _, refused := r.refused.Load(pod.UID); refused {
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
	registered := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionRegistered)
	if registered != nil && r.Clock.Since(registered.LastTransitionTime.Time) < reservationMost {
		kept, err := r.kept(ctx, claim, registered.LastTransitionTime.Time)
		if err != nil {
			return 0, err
		}
		if kept {
			return reservationPoll, nil
		}
	}
	base := node.DeepCopy()
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, isReservation)
	if err := r.Client.Patch(ctx, node, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})); err != nil {
		return 0, fmt.Errorf("end reservation of node %s: %w", node.Name, err)
	}
	return 0, nil
}

// kept says whether the reservation goes on: while pods of the decision wait, for
// so long after its last node has registered.
func (r *Reconciler) kept(ctx context.Context, claim *karpv1.NodeClaim, registered time.Time) (bool, error) {
	waiting, err := r.reserve(ctx, claim)
	if err != nil {
		return false, err
	}
	others, err := r.outstanding(ctx, claim.Annotations[karpv1.AnnotationDecision])
	if err != nil {
		return false, err
	}
	return (waiting > 0 || others.waiting) && min(r.Clock.Since(registered), r.Clock.Since(others.last)) < reservation, nil
}

func isReservation(t corev1.Taint) bool { return t.Key == karpv1.TaintKeyReserved }
