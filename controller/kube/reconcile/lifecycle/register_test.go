package lifecycle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/event"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// TestSettles: after the unregistered taint, which evicts, is removed, there is a pause
// before the first pod, in which other components see the change.
func TestSettles(t *testing.T) {
	now := clocktesting.NewFakeClock(time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC))
	r := &Reconciler{Clock: now}
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{UID: "a"}}
	closed := &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{karpv1.ClosedTaint()}}}
	for _, step := range []struct {
		reason string
		pass   time.Duration
		node   *corev1.Node
		want   time.Duration
	}{
		{"a restart forgot when it was tainted", 0, closed, taintPropagation},
		{"the wait goes on", 400 * time.Millisecond, closed, 600 * time.Millisecond},
		{"everybody knows", 600 * time.Millisecond, closed, 0},
		{"a node that joined without the taint has nothing to wait for", 0, &corev1.Node{}, 0},
	} {
		now.Step(step.pass)
		if left := r.propagation(claim, step.node); left != step.want {
			t.Errorf("%s: %s left, want %s", step.reason, left, step.want)
		}
	}
}

// TestIdentified: of the changes of a claim, only a new provider ID triggers the
// reconciler, because the node may have joined before.
func TestIdentified(t *testing.T) {
	claim := func(id, condition string) *karpv1.NodeClaim {
		c := &karpv1.NodeClaim{}
		c.Status.ProviderID = id
		c.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionLaunched, Reason: condition}}
		return c
	}
	for name, tc := range map[string]struct {
		reason        string
		before, after *karpv1.NodeClaim
		want          bool
	}{
		"launched": {"a node that joined meanwhile found no claim", claim("", "Launching"), claim("aws:///a/i-1", "Launched"), true},
		"failed":   {"a launch that failed waits for its retry", claim("", "Launching"), claim("", "Unavailable"), false},
		"later":    {"what is known does not wake", claim("aws:///a/i-1", "Launched"), claim("aws:///a/i-1", "Other"), false},
	} {
		if got := gotProviderID(event.UpdateEvent{ObjectOld: tc.before, ObjectNew: tc.after}); got != tc.want {
			t.Errorf("%s: %v, as %s", name, got, tc.reason)
		}
	}
}
