package lower

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Waiting says whether the pod has no node and nothing but a node to wait for.
// With tried set, the scheduler must also have found it unschedulable: in a
// live cluster, pods that it has not looked at yet may well fit.
func Waiting(pod *corev1.Pod, tried bool) bool {
	switch {
	case pod.Spec.NodeName != "",
		!pod.DeletionTimestamp.IsZero(),
		pod.Status.Phase != "" && pod.Status.Phase != corev1.PodPending,
		len(pod.Spec.SchedulingGates) > 0,
		!ours(pod),
		Daemon(pod):
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

// Running says whether the pod holds room on a node.
func Running(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

// ofJob says whether a Job owns the pod.
func ofJob(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && owner.Kind == "Job"
}

// Daemon says whether the pod belongs to its node: a DaemonSet's, or a static
// pod. Such a pod neither holds a node nor needs a new place.
func Daemon(pod *corev1.Pod) bool {
	owner := metav1.GetControllerOfNoCopy(pod)
	return owner != nil && (owner.Kind == "DaemonSet" || owner.Kind == "Node")
}

// ours says whether the pod waits for the scheduler that plans are made for.
func ours(pod *corev1.Pod) bool {
	return pod.Spec.SchedulerName == "" || pod.Spec.SchedulerName == corev1.DefaultSchedulerName
}

// final says whether nothing for us to place follows a bound pod when its node
// goes: nothing makes it again, or another scheduler has what does.
func final(pod *corev1.Pod) bool {
	return pod.Spec.NodeName != "" && (!ours(pod) || metav1.GetControllerOfNoCopy(pod) == nil)
}
