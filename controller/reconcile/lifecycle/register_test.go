package lifecycle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// TestSettles: between the end of the unregistered taint, which evicts, and the
// first pod there is a pause in which everybody learns of it.
func TestSettles(t *testing.T) {
	now := clocktesting.NewFakeClock(time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC))
	r := &Reconciler{Clock: now}
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
	closed := &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{karpv1.ReservedTaint("a")}}}
	for _, step := range []struct {
		reason string
		pass   time.Duration
		node   *corev1.Node
		want   time.Duration
	}{
		{"a restart forgot when it was tainted", 0, closed, settle},
		{"the wait goes on", 400 * time.Millisecond, closed, 600 * time.Millisecond},
		{"everybody knows", 600 * time.Millisecond, closed, 0},
		{"a node that joined without the taint has nothing to wait for", 0, &corev1.Node{}, 0},
	} {
		now.Step(step.pass)
		if left, err := r.shield(t.Context(), claim, step.node); err != nil || left != step.want {
			t.Errorf("%s: %s left (%v), want %s", step.reason, left, err, step.want)
		}
	}
}
