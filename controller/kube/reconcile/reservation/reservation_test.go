package reservation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// TestPodsCanStart: a reservation keeps DaemonSets off too, so it begins only when the
// node no longer needs them to get ready.
func TestPodsCanStart(t *testing.T) {
	ready := corev1.NodeStatus{
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		Allocatable: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")},
	}
	claim := &karpv1.NodeClaim{}
	claim.Spec.StartupTaints = []corev1.Taint{{Key: "example.com/starting", Effect: corev1.TaintEffectNoSchedule}}
	claim.Spec.Resources.Requests = karpv1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
	for name, tc := range map[string]struct {
		reason string
		node   corev1.Node
		want   bool
	}{
		"ready":       {"the pods can come at once", corev1.Node{Status: ready}, true},
		"not ready":   {"they could not run", corev1.Node{}, false},
		"no resource": {"a device plugin has to come first", corev1.Node{Status: corev1.NodeStatus{Conditions: ready.Conditions}}, false},
		"starting":    {"what lifts the startup taint has to come first", corev1.Node{Status: ready, Spec: corev1.NodeSpec{Taints: claim.Spec.StartupTaints}}, false},
		"no network":  {"what brings the network has to come first", corev1.Node{Status: ready, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: corev1.TaintNodeNetworkUnavailable, Effect: corev1.TaintEffectNoSchedule}}}}, false},
		"just ready":  {"the taint of a node that is not ready is about to go", corev1.Node{Status: ready, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}}}, true},
	} {
		if got := PodsCanStart(claim, &tc.node); got != tc.want {
			t.Errorf("%s: %v, as %s", name, got, tc.reason)
		}
	}
}
