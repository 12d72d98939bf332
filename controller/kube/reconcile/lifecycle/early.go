package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/reconcile/condition"
)

const (
	// earlyPoll is how often to look whether a node that is not initialized may stay
	// reserved.
	earlyPoll = 2 * time.Second
	// earlyMost is how long it may after it has registered. What it waits for may be a
	// pod of no DaemonSet that the reservation keeps off, and then the planned pods
	// would wait for ever.
	earlyMost = 5 * time.Minute
)

// early says whether a node is reserved although it is not initialized: its planned
// pods then find it closed to others from the first moment. Not where that would keep
// off a DaemonSet that could come now, and may have to for the node to get ready.
func (r *Reconciler) early(ctx context.Context, claim *karpv1.NodeClaim, node *corev1.Node) (bool, error) {
	if c := meta.FindStatusCondition(claim.Status.Conditions, karpv1.ConditionRegistered); c != nil &&
		condition.IsTrue(claim.Status.Conditions, c.Type) && r.Clock.Since(c.LastTransitionTime.Time) >= earlyMost {
		return false, nil
	}
	planned, err := plannedPods(claim)
	if err != nil || len(planned) == 0 || unreported(claim, node) != "" {
		return false, err
	}
	var waiting sighting
	if err := r.count(ctx, planned, &waiting); err != nil || waiting.waiting == 0 {
		return false, err
	}
	var daemons appsv1.DaemonSetList
	if err := r.Client.List(ctx, &daemons); err != nil {
		return false, fmt.Errorf("list DaemonSets: %w", err)
	}
	reserved := karpv1.ReservedTaint(claim.UID)
	return !slices.ContainsFunc(daemons.Items, func(d appsv1.DaemonSet) bool {
		return keepsOff(d.Spec.Template.Spec.Tolerations, node.Spec.Taints, &reserved)
	}), nil
}

// keepsOff says whether the reservation is all that keeps a DaemonSet's pod off a
// node with the taints. Those that Kubernetes puts on nodes that are not well are
// taken as tolerated: DaemonSets tolerate most of them.
func keepsOff(tolerations []corev1.Toleration, taints []corev1.Taint, reserved *corev1.Taint) bool {
	tolerated := func(t *corev1.Taint) bool {
		return slices.ContainsFunc(tolerations, func(x corev1.Toleration) bool { return tolerates(&x, t) })
	}
	for i := range taints {
		t := &taints[i]
		if t.Effect == corev1.TaintEffectPreferNoSchedule || isReservation(*t) || strings.HasPrefix(t.Key, "node.kubernetes.io/") {
			continue
		}
		if !tolerated(t) {
			return false
		}
	}
	return !tolerated(reserved)
}

// tolerates is the scheduler's rule.
func tolerates(x *corev1.Toleration, t *corev1.Taint) bool {
	if x.Effect != "" && x.Effect != t.Effect || x.Key != "" && x.Key != t.Key {
		return false
	}
	switch x.Operator {
	case corev1.TolerationOpExists:
		return true
	case "", corev1.TolerationOpEqual:
		return x.Key != "" && x.Value == t.Value
	case corev1.TolerationOpLt, corev1.TolerationOpGt: // what lifts startup taints does not compare numbers
	}
	return false
}
