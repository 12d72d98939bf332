package lower

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// largest is the largest amount of anything that counts, 2^62.
const largest = int64(1) << 62

// boundedPod returns the pod with no amount above 2^62, which is more than any node has. The library adds and
// compares 1e9999999 digit by digit. It copies the pod only when it has such an amount.
func boundedPod(pod *corev1.Pod) *corev1.Pod {
	within := true
	eachList(pod, func(list corev1.ResourceList) {
		for name := range list {
			within = within && !beyond(list[name])
		}
	})
	if within {
		return pod
	}
	out := pod.DeepCopy()
	eachList(out, func(list corev1.ResourceList) {
		for name, q := range list {
			if beyond(q) {
				list[name] = *resource.NewQuantity(largest, q.Format)
			}
		}
	})
	return out
}

func beyond(q resource.Quantity) bool { return q.AsApproximateFloat64() > float64(largest) }

// eachList visits every list of amounts in a pod, those in its status included.
func eachList(pod *corev1.Pod, visit func(corev1.ResourceList)) {
	both := func(r *corev1.ResourceRequirements) {
		if r != nil {
			visit(r.Requests)
			visit(r.Limits)
		}
	}
	visit(pod.Spec.Overhead)
	both(pod.Spec.Resources)
	eachContainer(&pod.Spec, both)
	visit(pod.Status.AllocatedResources)
	both(pod.Status.Resources)
	for _, statuses := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			visit(statuses[i].AllocatedResources)
			both(statuses[i].Resources)
		}
	}
}
