package readiness

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

func TestUninitialized(t *testing.T) {
	tests := map[string]struct {
		reason string
		change func(*karpv1.NodeClaim, *corev1.Node)
		want   string // part of the message
	}{
		"complete": {"nothing is missing", func(*karpv1.NodeClaim, *corev1.Node) {}, ""},
		"not ready": {"the kubelet says so", func(_ *karpv1.NodeClaim, n *corev1.Node) {
			n.Status.Conditions[0].Status = corev1.ConditionFalse
		}, "is not ready"},
		"startup taint": {"what lifts it has not run", func(c *karpv1.NodeClaim, n *corev1.Node) {
			c.Spec.StartupTaints = []corev1.Taint{{Key: "cni", Effect: corev1.TaintEffectNoExecute}}
			n.Spec.Taints = c.Spec.StartupTaints
		}, "startup taint cni:NoExecute"},
		"not-ready taint": {"the node controller removes it after the condition is true", func(_ *karpv1.NodeClaim, n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}
		}, "taint node.kubernetes.io/not-ready"},
		"cloud controller": {"a slow cloud controller has not seen the node", func(_ *karpv1.NodeClaim, n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "node.cloudprovider.kubernetes.io/uninitialized", Value: "true", Effect: corev1.TaintEffectNoSchedule}}
		}, "node.cloudprovider.kubernetes.io/uninitialized"},
		"readiness rule": {"its condition is not true yet", func(_ *karpv1.NodeClaim, n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "readiness.k8s.io/network", Effect: corev1.TaintEffectNoSchedule}}
		}, "readiness.k8s.io/network"},
		"own taint": {"the NodePool wants it on the node for good", func(c *karpv1.NodeClaim, n *corev1.Node) {
			c.Spec.Taints = []corev1.Taint{{Key: "readiness.k8s.io/network", Effect: corev1.TaintEffectNoSchedule}}
			n.Spec.Taints = c.Spec.Taints
		}, ""},
		"other taint": {"it says nothing about the start", func(_ *karpv1.NodeClaim, n *corev1.Node) {
			n.Spec.Taints = []corev1.Taint{{Key: "team", Effect: corev1.TaintEffectNoSchedule}}
		}, ""},
		"device plugin": {"a requested resource is not there", func(c *karpv1.NodeClaim, _ *corev1.Node) {
			c.Spec.Resources.Requests = karpv1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}
		}, "does not report nvidia.com/gpu"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			claim, node := &karpv1.NodeClaim{}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
			node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
			tc.change(claim, node)
			if got := Uninitialized(claim, node); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
