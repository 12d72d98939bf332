package lifecycle

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// TestLiveness: how long a claim still has for its node to register. The time of its condition
// may be written by others.
func TestLiveness(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason   string
		launched time.Time
		want     time.Duration
	}{
		"launched":     {"the time counts from the launch", now.Add(-5 * time.Minute), 10 * time.Minute},
		"not launched": {"it counts from the creation", time.Time{}, 8 * time.Minute},
		"forged":       {"a launch before the creation is not believed", now.Add(-24 * time.Hour), 8 * time.Minute},
	} {
		r := &Reconciler{Clock: clocktesting.NewFakeClock(now)}
		claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "a", CreationTimestamp: metav1.NewTime(now.Add(-7 * time.Minute))}}
		if !tc.launched.IsZero() {
			claim.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionLaunched, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(tc.launched)}}
		}
		if got, err := r.liveness(t.Context(), claim); err != nil || got != tc.want {
			t.Errorf("%s: %s left, %v; want %s: %s", name, got, err, tc.want, tc.reason)
		}
	}
}
