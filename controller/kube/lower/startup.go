package lower

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// longestStart is the longest time that is taken for a start: what became ready
// later was ready before, and failed meanwhile.
const longestStart = time.Hour

// startUp is how many seconds a pod took from its binding until it was ready,
// rounded up; 0 when its conditions do not say.
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
	if bound.IsZero() || took <= 0 || took > longestStart {
		return 0
	}
	return uint16((took + time.Second - 1) / time.Second)
}
