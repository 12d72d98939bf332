package lower

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

func TestLaunchedAt(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, attempted string
		denied            bool
		want              time.Time
	}{
		"crash":    {"EC2 may bill since the attempt was written, whenever somebody was there to record the launch", "2026-03-04T09:48:00Z", false, noon.Add(-132 * time.Minute)},
		"no note":  {"claims of others have none", "", false, noon.Add(-2 * time.Hour)},
		"nonsense": {"what cannot be read says nothing", "soon", false, noon.Add(-2 * time.Hour)},
		"later":    {"an attempt after the launch is not the one that succeeded", "2026-03-04T10:00:01Z", false, noon.Add(-2 * time.Hour)},
		"denied":   {"the time of a condition that somebody denied is theirs: not before the claim was made", "2026-03-04T09:48:00Z", true, noon.Add(-3 * time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", CreationTimestamp: metav1.NewTime(noon.Add(-3 * time.Hour)), Annotations: map[string]string{karpv1.AnnotationAttemptedAt: tc.attempted}}}
			c.Status.Conditions = []metav1.Condition{{Type: karpv1.ConditionLaunched, Status: metav1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon.Add(-2 * time.Hour))}}
			c.Status.ProviderID = "aws:///za/i-1"
			if tc.denied {
				c.Status.Conditions[0].Status, c.Status.Conditions[0].LastTransitionTime = metav1.ConditionFalse, metav1.NewTime(noon.Add(-24*time.Hour))
			}
			if got := Node(nil, c, noon).LaunchedAt; !got.Equal(tc.want) {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
