package lower

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IsWaiting reports whether the pod is pending and a node is all that it lacks. With
// tried set, its scheduler, whichever that is, must also have found it unschedulable: in a
// live cluster, a pod that the scheduler has not tried yet may fit on an existing node.
func IsWaiting(pod *corev1.Pod, tried bool) bool { return !IsDaemon(pod) && lacksNode(pod, tried) }

// lacksNode is IsWaiting whatever owns the pod.
func lacksNode(pod *corev1.Pod, tried bool) bool {
	switch {
	case pod.Spec.NodeName != "",
		!pod.DeletionTimestamp.IsZero(),
		pod.Status.Phase != "" && pod.Status.Phase != corev1.PodPending,
		len(pod.Spec.SchedulingGates) > 0:
		return false
	}
	return !tried || unschedulable(pod)
}

func unschedulable(pod *corev1.Pod) bool {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled {
			return c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable
		}
	}
	return false
}

// IsRunning reports whether the pod is bound to a node and has not ended, and so takes up
// room there.
func IsRunning(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// isJob reports whether a Job controls the pod.
func isJob(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && owner.Kind == "Job" && strings.HasPrefix(owner.APIVersion, "batch/")
}

// kindNode is the kind of the owner of static pods.
const kindNode = "Node"

// IsDaemon reports whether the pod says that it belongs to its node: it is a DaemonSet's
// or a static pod. Such a pod does not keep its node from being removed, and needs no
// other place. A snapshot of a cluster also asks whether the owner exists.
func IsDaemon(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == kindNode)
}

// isStateful reports whether a StatefulSet controls the pod.
func isStateful(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && owner.Kind == "StatefulSet"
}

// isFinal reports whether no other pod follows the bound pod when its node is removed,
// because no controller recreates it.
func isFinal(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && metav1.GetControllerOfNoCopy(pod) == nil
}
