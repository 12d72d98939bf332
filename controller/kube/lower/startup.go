package lower

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// maxStartUp is the longest time from binding to ready that counts as a start. A pod
// that became ready later was ready before, and failed in between.
const maxStartUp = time.Hour

// startUp returns how many seconds the pod took from its binding until it was ready,
// rounded up; 0 when its conditions do not show it.
func startUp(pod *corev1.Pod) uint16 {
	var bound, up time.Time
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == corev1.PodScheduled:
			bound = c.LastTransitionTime.Time
		case c.Type == corev1.PodReady:
			up = c.LastTransitionTime.Time
		}
	}
	took := up.Sub(bound)
	if bound.IsZero() || took <= 0 || took > maxStartUp {
		return 0
	}
	return uint16((took + time.Second - 1) / time.Second)
}
