package termination

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

func TestLate(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	deleted := func(ends time.Duration) *metav1.Time { return &metav1.Time{Time: now.Add(ends)} }
	seconds := func(n int64) *int64 { return &n }
	cases := map[string]struct {
		reason   string
		deadline string
		pod      corev1.Pod
		late     bool
		grace    time.Duration
	}{
		"no deadline": {reason: "a drain without a bound waits for evictions", deadline: "", pod: corev1.Pod{}},
		"time enough": {reason: "the default is 30 seconds", deadline: "2026-03-04T12:01:00Z"},
		"must begin":  {reason: "a pod that takes two minutes begins to stop two minutes before the end", deadline: "2026-03-04T12:02:00Z", pod: corev1.Pod{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: seconds(120)}}, late: true, grace: 2 * time.Minute},
		"too long":    {reason: "no pod has longer than the node", deadline: "2026-03-04T12:02:00Z", pod: corev1.Pod{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: seconds(3600)}}, late: true, grace: 2 * time.Minute},
		"past":        {reason: "after the end there is no grace", deadline: "2026-03-04T11:59:00Z", late: true},
		"stopping":    {reason: "a pod that will be gone in time is left alone", deadline: "2026-03-04T12:02:00Z", pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: deleted(time.Minute)}}, grace: 2 * time.Minute},
		"overrunning": {reason: "one that would not be is hurried", deadline: "2026-03-04T12:02:00Z", pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: deleted(time.Hour)}}, late: true, grace: 2 * time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{Clock: testclock.NewFakeClock(now)}
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{karpv1.AnnotationTerminationTimestamp: tc.deadline}}}
			late, grace := r.mustStopNow(node, &tc.pod)
			if late != tc.late || late && grace != tc.grace {
				t.Errorf("%s: late %v with %s, want %v with %s", tc.reason, late, grace, tc.late, tc.grace)
			}
		})
	}
}
