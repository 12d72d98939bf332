package app

import (
	corev1 "k8s.io/api/core/v1"
)

// Pods are most of the controller's memory. These transforms keep what
// decisions, drains and events read, and drop the rest before it is cached.
// Objects that are written back are patched, never updated whole, so that
// nothing dropped here is lost in the cluster.

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

func slimPod(o any) (any, error) {
	pod, ok := o.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	pod.ManagedFields = nil
	delete(pod.Annotations, lastApplied)
	for _, list := range [][]corev1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range list {
			c := &list[i]
			*c = corev1.Container{Name: c.Name, Resources: c.Resources, Ports: c.Ports, RestartPolicy: c.RestartPolicy}
		}
	}
	pod.Spec.EphemeralContainers = nil
	pod.Status = corev1.PodStatus{
		Phase: pod.Status.Phase, Conditions: scheduled(pod.Status.Conditions), StartTime: pod.Status.StartTime,
		NominatedNodeName: pod.Status.NominatedNodeName, Reason: pod.Status.Reason,
		Resources: pod.Status.Resources, AllocatedResources: pod.Status.AllocatedResources,
		ContainerStatuses: resized(pod.Status.ContainerStatuses),
	}
	return pod, nil
}

// scheduled keeps the conditions that scheduling is told by.
func scheduled(in []corev1.PodCondition) []corev1.PodCondition {
	var out []corev1.PodCondition
	for _, c := range in {
		if c.Type == corev1.PodScheduled || c.Type == corev1.PodReady {
			c.Message = ""
			out = append(out, c)
		}
	}
	return out
}

// resized keeps the resources that a running container really has.
func resized(in []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for i := range in {
		if in[i].Resources != nil || in[i].AllocatedResources != nil {
			out = append(out, corev1.ContainerStatus{
				Name: in[i].Name, Resources: in[i].Resources, AllocatedResources: in[i].AllocatedResources,
			})
		}
	}
	return out
}

func slimNode(o any) (any, error) {
	node, ok := o.(*corev1.Node)
	if !ok {
		return o, nil
	}
	node.ManagedFields = nil
	node.Status.Images = nil
	return node, nil
}
