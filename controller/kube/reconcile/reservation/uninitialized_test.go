package reservation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// TestKeepsOff: only DaemonSets whose pods nothing but the reservation keeps off count.
func TestKeepsOff(t *testing.T) {
	starting := corev1.Taint{Key: "example.com/starting", Value: "x", Effect: corev1.TaintEffectNoSchedule}
	unready := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	reserved := karpv1.ReservedTaint("a")
	exists := func(key string) []corev1.Toleration {
		return []corev1.Toleration{{Key: key, Operator: corev1.TolerationOpExists}}
	}
	for name, tc := range map[string]struct {
		reason      string
		tolerations []corev1.Toleration
		taints      []corev1.Taint
		want        bool
	}{
		"everything":  {"it tolerates the reservation", exists(""), []corev1.Taint{starting, reserved}, false},
		"nothing":     {"the startup taint keeps it off, too", nil, []corev1.Taint{starting, reserved}, false},
		"the startup": {"it may be what lifts the taint", exists("example.com/starting"), []corev1.Taint{starting, reserved}, true},
		"the value":   {"as before", []corev1.Toleration{{Key: "example.com/starting", Value: "x"}}, []corev1.Taint{starting}, true},
		"other value": {"the startup taint keeps it off, too", []corev1.Toleration{{Key: "example.com/starting", Value: "y"}}, []corev1.Taint{starting}, false},
		"unready":     {"it may be what makes the node ready", nil, []corev1.Taint{unready, reserved}, true},
		"no taint":    {"nothing else keeps it off", nil, nil, true},
	} {
		if got := keepsOff(tc.tolerations, tc.taints, &reserved); got != tc.want {
			t.Errorf("%s: %v, as %s", name, got, tc.reason)
		}
	}
}
