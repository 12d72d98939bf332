package lower

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/model"
)

// daemonSet returns the spec of the pod that the DaemonSet runs on every node it fits.
func (s *podLowerer) daemonSet(ds *appsv1.DaemonSet) model.DaemonSet {
	pod := &corev1.Pod{ObjectMeta: ds.Spec.Template.ObjectMeta, Spec: ds.Spec.Template.Spec}
	pod.Namespace = ds.Namespace
	if s.live { // otherwise podSpec does
		pod = s.admission.admit(pod)
	}
	pod.Spec.Tolerations = append(slices.Clone(pod.Spec.Tolerations), daemonTolerations(&pod.Spec)...)
	out := model.DaemonSet{Namespace: ds.Namespace, Name: ds.Name, Spec: s.podSpec(pod)}
	// Volumes are left out: every node attaches the same ones, so they make no
	// difference between nodes.
	maps.DeleteFunc(out.Spec.Requests, func(name string, _ int64) bool { return model.CountsVolumes(name) })
	return out
}

// daemonTolerations returns the tolerations that the DaemonSet controller adds to its
// pods.
// https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#taints-and-tolerations
func daemonTolerations(spec *corev1.PodSpec) []corev1.Toleration {
	add := func(key string, effect corev1.TaintEffect) corev1.Toleration {
		return corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect}
	}
	out := []corev1.Toleration{
		add(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute),
		add(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute),
		add(corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule),
		add(corev1.TaintNodeMemoryPressure, corev1.TaintEffectNoSchedule),
		add(corev1.TaintNodePIDPressure, corev1.TaintEffectNoSchedule),
		add(corev1.TaintNodeUnschedulable, corev1.TaintEffectNoSchedule),
	}
	if spec.HostNetwork {
		out = append(out, add(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule))
	}
	return out
}
