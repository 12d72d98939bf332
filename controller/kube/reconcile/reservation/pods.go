package reservation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/lower"
)

// plannedPods are the keys of the pods that the decision planned on the claim's node, as
// "namespace/name".
func plannedPods(claim *karpv1.NodeClaim) ([]string, error) {
	text := claim.Annotations[karpv1.AnnotationPlannedPods]
	if text == "" {
		return nil, nil
	}
	var planned []string
	if err := json.Unmarshal([]byte(text), &planned); err != nil {
		return nil, fmt.Errorf("read annotation %s of %s: %w", karpv1.AnnotationPlannedPods, claim.Name, err)
	}
	return planned, nil
}

// announcedPods returns how many pods the decision planned on the claim's node that do not
// exist yet. The decision loop lowers the number when they come, and when they will not.
func announcedPods(claim *karpv1.NodeClaim) int {
	sum := 0
	for _, n := range lower.AnnouncedPods(claim) {
		sum += n
	}
	return sum
}

// waiting returns how many of the claim's planned pods still wait, announced ones included,
// and those that lack the toleration of the claim's reservation.
func (r *Reservations) waiting(ctx context.Context, claim *karpv1.NodeClaim) (waiting int, without []*corev1.Pod, err error) {
	planned, err := plannedPods(claim)
	if err != nil {
		return 0, nil, err
	}
	if waiting, without, err = r.lacking(ctx, claim, planned); err != nil {
		return 0, nil, err
	}
	return waiting + announcedPods(claim), without, nil
}

// Prepare has the toleration of the claim's reservation added to the planned pods that lack
// it, while the instance boots, if they are many: little is left to be written when the node
// is registered. Few are written then, in a moment ([Reservations.Open]). Each change of a pod
// makes the scheduler try it: while no node takes it, in vain, and the more often it has,
// the longer it waits before it tries the pod again.
// Prepare returns after how long to call it again, 0 when there is nothing to be written, and
// does nothing for a node that takes pods already. Planned pods that cannot be read have no
// part in the claim's life: its node is opened to all.
func (r *Reservations) Prepare(ctx context.Context, claim *karpv1.NodeClaim) (time.Duration, error) {
	if condition.IsTrue(claim.Status.Conditions, karpv1.ConditionInitialized) {
		return 0, nil
	}
	planned, err := plannedPods(claim)
	if err != nil {
		logr.FromContextOrDiscard(ctx).Error(err, "no node is kept for planned pods")
		return 0, nil
	}
	if len(planned) <= writersPerClaim {
		return 0, nil
	}
	_, without, err := r.lacking(ctx, claim, planned)
	if err != nil || len(without) == 0 {
		return 0, err
	}
	r.addTolerations(ctx, claim.UID, without)
	return preparePoll, nil
}

// lacking returns how many of the planned pods wait, and those of them that lack the
// toleration of the claim's reservation.
func (r *Reservations) lacking(ctx context.Context, claim *karpv1.NodeClaim, planned []string) (waiting int, without []*corev1.Pod, _ error) {
	own := karpv1.ReservedToleration(claim.UID)
	for _, key := range planned {
		pod, err := r.unbound(ctx, key)
		if err != nil {
			return 0, nil, err
		}
		if pod == nil {
			continue
		}
		waiting++
		if !slices.Contains(pod.Spec.Tolerations, own) {
			without = append(without, pod)
		}
	}
	return waiting, without, nil
}

// unbound returns the pod of a key "namespace/name" if it waits. It is nil for one that
// is gone or terminating, that has a node, or whose toleration was refused, so that no
// node is kept for it.
func (r *Reservations) unbound(ctx context.Context, key string) (*corev1.Pod, error) {
	namespace, name, _ := strings.Cut(key, "/")
	pod := &corev1.Pod{}
	err := r.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, pod)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // it waits no more, which is an ordinary answer
	case err != nil:
		return nil, fmt.Errorf("read planned pod %s: %w", key, err)
	case pod.Spec.NodeName != "" || !pod.DeletionTimestamp.IsZero() || r.writer.wasRefused(pod.UID):
		return nil, nil //nolint:nilnil // as above
	}
	return pod, nil
}

// bound says whether a planned pod is on the node already. That happens before the node
// is closed, because pods get their tolerations before.
func (r *Reservations) bound(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) bool {
	planned, err := plannedPods(claim)
	return err == nil && slices.ContainsFunc(planned, func(key string) bool {
		namespace, name, _ := strings.Cut(key, "/")
		pod := &corev1.Pod{}
		return r.client.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, pod) == nil && pod.Spec.NodeName == node.Name
	})
}
