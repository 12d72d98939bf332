package reservation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/condition"
	"spokeshave.dev/controller/kube/reconcile/readiness"
)

const (
	// uninitializedPoll is how often to look whether a node that is not initialized may
	// stay reserved.
	uninitializedPoll = 2 * time.Second
	// maxUninitialized is how long it may stay so after it has registered. The node may
	// wait for a pod that belongs to no DaemonSet and that the reservation keeps off;
	// without a limit the planned pods would never be bound.
	maxUninitialized = 5 * time.Minute
)

// HoldUninitialized says whether a node is to be reserved although it is not initialized,
// so that other pods never find it open. It is not reserved when that would keep off a
// DaemonSet whose pods could start now, because the node may need them to get ready.
func (r *Reservations) HoldUninitialized(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) (bool, error) {
	if c := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionRegistered); c != nil &&
		condition.IsTrue(claim.Status.Conditions, c.Type) && r.clock.Since(c.LastTransitionTime.Time) >= maxUninitialized {
		return false, nil
	}
	planned, err := plannedPods(claim)
	announced := announcedPods(claim)
	if err != nil || len(planned)+announced == 0 || readiness.Unreported(claim, node) != "" {
		return false, err
	}
	pods := progress{waiting: announced}
	if err := r.count(ctx, planned, &pods); err != nil || pods.waiting == 0 {
		return false, err
	}
	var daemons appsv1.DaemonSetList
	if err := r.client.List(ctx, &daemons); err != nil {
		return false, fmt.Errorf("list DaemonSets: %w", err)
	}
	reserved := karpv1.ReservedTaint(claim.UID)
	return !slices.ContainsFunc(daemons.Items, func(d appsv1.DaemonSet) bool {
		return keepsOff(d.Spec.Template.Spec.Tolerations, node.Spec.Taints, &reserved)
	}), nil
}

// keepsOff says whether the reservation is all that keeps a DaemonSet's pod off a node
// with the taints. Taints node.kubernetes.io/… are taken as tolerated, since the
// DaemonSet controller adds tolerations of most of them to its pods. The operators Lt
// and Gt, which compare numbers, tolerate nothing here.
func keepsOff(tolerations []corev1.Toleration, taints []corev1.Taint, reserved *corev1.Taint) bool {
	tolerated := func(t *corev1.Taint) bool {
		return slices.ContainsFunc(tolerations, func(x corev1.Toleration) bool { return x.ToleratesTaint(logr.Discard(), t, false) })
	}
	for i := range taints {
		t := &taints[i]
		if t.Effect == corev1.TaintEffectPreferNoSchedule || IsTaint(*t) || strings.HasPrefix(t.Key, "node.kubernetes.io/") {
			continue
		}
		if !tolerated(t) {
			return false
		}
	}
	return !tolerated(reserved)
}

// NeedsUnregistered says whether a DaemonSet could run on a node with the unregistered taint
// and not on one that is closed: the node may need its pod to get ready.
func (r *Reservations) NeedsUnregistered(ctx context.Context) (bool, error) {
	var daemons appsv1.DaemonSetList
	if err := r.client.List(ctx, &daemons); err != nil {
		return false, fmt.Errorf("list DaemonSets: %w", err)
	}
	closed := karpv1.ClosedTaint()
	return slices.ContainsFunc(daemons.Items, func(d appsv1.DaemonSet) bool {
		return keepsOff(d.Spec.Template.Spec.Tolerations, []corev1.Taint{karpv1.UnregisteredTaint()}, &closed)
	}), nil
}
