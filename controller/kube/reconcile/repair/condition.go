package repair

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Policy is a node condition that means, once it has lasted for Toleration, that the node
// is broken.
type Policy struct {
	Condition corev1.NodeConditionType
	Status    corev1.ConditionStatus
	// Toleration is how long the condition may last, since nodes can recover.
	Toleration time.Duration
}

// Policies returns kubelet's own condition and those of the EKS node monitoring agent,
// with the tolerations that Karpenter uses on EKS.
// https://docs.aws.amazon.com/eks/latest/userguide/node-health.html
func Policies() []Policy {
	return []Policy{
		{corev1.NodeReady, corev1.ConditionFalse, 30 * time.Minute},
		{corev1.NodeReady, corev1.ConditionUnknown, 30 * time.Minute},
		{"AcceleratedHardwareReady", corev1.ConditionFalse, 10 * time.Minute},
		{"StorageReady", corev1.ConditionFalse, 30 * time.Minute},
		{"NetworkingReady", corev1.ConditionFalse, 30 * time.Minute},
		{"KernelReady", corev1.ConditionFalse, 30 * time.Minute},
		{"ContainerRuntimeReady", corev1.ConditionFalse, 30 * time.Minute},
	}
}

// unhealthyCondition is a sign that a node has, and since when.
type unhealthyCondition struct {
	policy Policy
	since  time.Time
}

func (t *unhealthyCondition) due() time.Time { return t.since.Add(t.policy.Toleration) }

// diagnose returns the sign whose toleration ends first, nil for a healthy node.
func diagnose(node *corev1.Node, signs []Policy) *unhealthyCondition {
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
