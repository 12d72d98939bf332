package lifecycle

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// TestLasts: pods that may wait for the very end of reservations do not have to
// wait long.
func TestLasts(t *testing.T) {
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	pod := func(when corev1.UnsatisfiableConstraintAction, policy *corev1.NodeInclusionPolicy) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: when, NodeTaintsPolicy: policy}}}}
	}
	for name, tc := range map[string]struct {
		reason string
		pods   []*corev1.Pod
		want   time.Duration
	}{
		"honors":       {"it does not count nodes reserved for others", []*corev1.Pod{pod(corev1.DoNotSchedule, &honor)}, reservationBarred},
		"ignores":      {"it counts them", []*corev1.Pod{pod(corev1.DoNotSchedule, &ignore)}, reservation},
		"by default":   {"the default is to ignore taints", []*corev1.Pod{pod(corev1.DoNotSchedule, nil)}, reservation},
		"prefers":      {"it is not held back", []*corev1.Pod{pod(corev1.ScheduleAnyway, &honor)}, reservation},
		"one of two":   {"the other needs the reservation", []*corev1.Pod{pod(corev1.DoNotSchedule, &honor), {}}, reservation},
		"nobody waits": {"the reservation ends for that", nil, reservation},
	} {
		s := sighting{waiting: len(tc.pods)}
		for _, p := range tc.pods {
			if barred(p) {
				s.barred++
			}
		}
		if got := s.lasts(); got != tc.want {
			t.Errorf("%s: %s, want %s, as %s", name, got, tc.want, tc.reason)
		}
	}
}

// TestMoved: what others may have waited for is a node or a pod, whichever came
// last.
func TestMoved(t *testing.T) {
	start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	for name, tc := range map[string]struct {
		reason        string
		before, after sighting
		want          time.Time
	}{
		"first look": {"nothing is known of before", sighting{}, sighting{at: at(3), waiting: 5, last: at(2)}, at(2)},
		"none bound": {"the last node counts", sighting{at: at(3), waiting: 5, last: at(2)}, sighting{at: at(4), waiting: 5, last: at(2)}, at(2)},
		"one bound":  {"a pod of its group may wait for it", sighting{at: at(3), waiting: 5, last: at(2)}, sighting{at: at(4), waiting: 4, last: at(2)}, at(4)},
		"one before": {"it is remembered", sighting{at: at(5), waiting: 4, last: at(2), bound: at(4)}, sighting{at: at(6), waiting: 4, last: at(2)}, at(4)},
		"later node": {"its pods may be what others wait for", sighting{at: at(5), waiting: 4, last: at(2), bound: at(4)}, sighting{at: at(6), waiting: 4, last: at(6)}, at(6)},
	} {
		if got := tc.after.after(tc.before).moved(); !got.Equal(tc.want) {
			t.Errorf("%s: %s, want %s, as %s", name, got, tc.want, tc.reason)
		}
	}
}
