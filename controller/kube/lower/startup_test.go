package lower

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestStartUp(t *testing.T) {
	start := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	on := func(kind corev1.PodConditionType, status corev1.ConditionStatus, after time.Duration) corev1.PodCondition {
		return corev1.PodCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(start.Add(after))}
	}
	bound := on(corev1.PodScheduled, corev1.ConditionTrue, 0)
	for name, tc := range map[string]struct {
		reason     string
		conditions []corev1.PodCondition
		want       uint16
	}{
		"ready":     {reason: "from binding to readiness", conditions: []corev1.PodCondition{bound, on(corev1.PodReady, corev1.ConditionTrue, 90*time.Second)}, want: 90},
		"order":     {reason: "conditions come in any order", conditions: []corev1.PodCondition{on(corev1.PodReady, corev1.ConditionTrue, 2*time.Second), bound}, want: 2},
		"starting":  {reason: "it is not known yet", conditions: []corev1.PodCondition{bound, on(corev1.PodReady, corev1.ConditionFalse, time.Second)}},
		"unbound":   {reason: "a condition without the other says nothing", conditions: []corev1.PodCondition{on(corev1.PodReady, corev1.ConditionTrue, time.Second)}},
		"recovered": {reason: "what is ready after two days has failed in between", conditions: []corev1.PodCondition{bound, on(corev1.PodReady, corev1.ConditionTrue, 48*time.Hour)}},
		"clocks":    {reason: "nodes' clocks differ", conditions: []corev1.PodCondition{bound, on(corev1.PodReady, corev1.ConditionTrue, -time.Second)}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := startUp(&corev1.Pod{Status: corev1.PodStatus{Conditions: tc.conditions}}); got != tc.want {
				t.Errorf("%s: %d s, want %d", tc.reason, got, tc.want)
			}
		})
	}
}
