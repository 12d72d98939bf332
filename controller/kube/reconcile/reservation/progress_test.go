package reservation

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// TestDuration: reservations are short when all waiting pods may wait for their end.
func TestDuration(t *testing.T) {
	honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
	pod := func(when corev1.UnsatisfiableConstraintAction, policy *corev1.NodeInclusionPolicy) *corev1.Pod {
		return &corev1.Pod{Spec: corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{WhenUnsatisfiable: when, NodeTaintsPolicy: policy}}}}
	}
	for name, tc := range map[string]struct {
		reason string
		pods   []*corev1.Pod
		want   time.Duration
	}{
		"honors":       {"it does not count nodes reserved for others", []*corev1.Pod{pod(corev1.DoNotSchedule, &honor)}, durationSpread},
		"ignores":      {"it counts them", []*corev1.Pod{pod(corev1.DoNotSchedule, &ignore)}, duration},
		"by default":   {"the default is to ignore taints", []*corev1.Pod{pod(corev1.DoNotSchedule, nil)}, duration},
		"prefers":      {"it is not held back", []*corev1.Pod{pod(corev1.ScheduleAnyway, &honor)}, duration},
		"one of two":   {"the other needs the reservation", []*corev1.Pod{pod(corev1.DoNotSchedule, &honor), {}}, duration},
		"nobody waits": {"the reservation ends for that", nil, duration},
	} {
		s := progress{waiting: len(tc.pods)}
		for _, p := range tc.pods {
			if ignoresReservedNodes(p) {
				s.heldBack++
			}
		}
		if got := s.duration(); got != tc.want {
			t.Errorf("%s: %s, want %s, as %s", name, got, tc.want, tc.reason)
		}
	}
}

// TestLastProgress: the last progress is a bound pod or an initialized node, whichever
// came last.
func TestLastProgress(t *testing.T) {
	start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	for name, tc := range map[string]struct {
		reason        string
		before, after progress
		want          time.Time
	}{
		"first look": {"nothing is known of before", progress{}, progress{at: at(3), waiting: 5, initialized: at(2)}, at(2)},
		"none bound": {"the last node counts", progress{at: at(3), waiting: 5, initialized: at(2)}, progress{at: at(4), waiting: 5, initialized: at(2)}, at(2)},
		"one bound":  {"a pod of its group may wait for it", progress{at: at(3), waiting: 5, initialized: at(2)}, progress{at: at(4), waiting: 4, initialized: at(2)}, at(4)},
		"one before": {"it is remembered", progress{at: at(5), waiting: 4, initialized: at(2), bound: at(4)}, progress{at: at(6), waiting: 4, initialized: at(2)}, at(4)},
		"later node": {"its pods may be what others wait for", progress{at: at(5), waiting: 4, initialized: at(2), bound: at(4)}, progress{at: at(6), waiting: 4, initialized: at(6)}, at(6)},
	} {
		if got := tc.after.since(tc.before).lastProgress(); !got.Equal(tc.want) {
			t.Errorf("%s: %s, want %s, as %s", name, got, tc.want, tc.reason)
		}
	}
}
