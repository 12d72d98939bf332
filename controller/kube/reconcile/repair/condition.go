package repair

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Sign is a node condition by which a node is broken once it has lasted.
type Sign struct {
	Condition corev1.NodeConditionType
	Status    corev1.ConditionStatus
	// Toleration is how long the condition may last: nodes do recover.
	Toleration time.Duration
}

// Signs are kubelet's own condition and those of the EKS node monitoring agent,
// with the patience that Karpenter has on EKS.
// https://docs.aws.amazon.com/eks/latest/userguide/node-health.html
func Signs() []Sign {
	return []Sign{
		{corev1.NodeReady, corev1.ConditionFalse, 30 * time.Minute},
		{corev1.NodeReady, corev1.ConditionUnknown, 30 * time.Minute},
		{"AcceleratedHardwareReady", corev1.ConditionFalse, 10 * time.Minute},
		{"StorageReady", corev1.ConditionFalse, 30 * time.Minute},
		{"NetworkingReady", corev1.ConditionFalse, 30 * time.Minute},
		{"KernelReady", corev1.ConditionFalse, 30 * time.Minute},
		{"ContainerRuntimeReady", corev1.ConditionFalse, 30 * time.Minute},
	}
}

// unhealthyCondition is a sign that a node shows, and since when.
type unhealthyCondition struct {
	sign  Sign
	since time.Time
}

func (t *unhealthyCondition) due() time.Time { return t.since.Add(t.sign.Toleration) }

// diagnose finds the sign whose patience ends first; nil for a node that is well.
func diagnose(node *corev1.Node, signs []Sign) *unhealthyCondition {
	var worst *unhealthyCondition
	for _, c := range node.Status.Conditions {
		for _, s := range signs {
			if c.Type != s.Condition || c.Status != s.Status {
				continue
			}
			if t := (&unhealthyCondition{s, c.LastTransitionTime.Time}); worst == nil || t.due().Before(worst.due()) {
				worst = t
			}
		}
	}
	return worst
}
