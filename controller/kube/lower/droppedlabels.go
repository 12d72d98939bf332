package lower

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labelSet is a set of labels whose value differs between the pods of one owner (a
// pod's name or index), or names an owner that has few pods. With them nearly every pod
// would have a spec of its own. They are left out as long as no constraint in the
// cluster selects pods by them.
type labelSet uint8

const (
	podNames labelSet = 1 << iota
	podIndices
	completions
	controllers

	allDroppable = podNames | podIndices | completions | controllers
)

// labelBit returns the label's bit in the set, 0 for any other label.
func labelBit(key string) labelSet {
	switch key {
	case appsv1.StatefulSetPodNameLabel:
		return podNames
	case appsv1.PodIndexLabel:
		return podIndices
	case batchv1.JobCompletionIndexAnnotation:
		return completions
	case batchv1.ControllerUidLabel, "controller-uid": // the same before Kubernetes 1.27
		return controllers
	}
	return 0
}

func (n labelSet) has(key string) bool { return n&labelBit(key) != 0 }

// unselectedLabels returns the labels that no pod's constraints and no disruption budget
// mention.
func unselectedLabels(pods []*corev1.Pod, budgets []*policyv1.PodDisruptionBudget) labelSet {
	out := allDroppable
	keep := func(key string) { out &^= labelBit(key) }
	for _, b := range budgets {
		eachKey(b.Spec.Selector, nil, keep)
	}
	for _, pod := range pods {
		for i := range pod.Spec.TopologySpreadConstraints {
			c := &pod.Spec.TopologySpreadConstraints[i]
			eachKey(c.LabelSelector, c.MatchLabelKeys, keep)
		}
		eachTerm(pod.Spec.Affinity, func(t *corev1.PodAffinityTerm) {
			eachKey(t.LabelSelector, t.MatchLabelKeys, keep)
			eachKey(nil, t.MismatchLabelKeys, keep)
		})
	}
	return out
}

func eachKey(sel *metav1.LabelSelector, keys []string, keep func(string)) {
	for _, key := range keys {
		keep(key)
	}
	if sel == nil {
		return
	}
	for key := range sel.MatchLabels {
		keep(key)
	}
	for i := range sel.MatchExpressions {
		keep(sel.MatchExpressions[i].Key)
	}
}

func eachTerm(a *corev1.Affinity, visit func(*corev1.PodAffinityTerm)) {
	if a == nil {
		return
	}
	both := func(required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
		for i := range required {
			visit(&required[i])
		}
		for i := range preferred {
			visit(&preferred[i].PodAffinityTerm)
		}
	}
	if p := a.PodAffinity; p != nil {
		both(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if p := a.PodAntiAffinity; p != nil {
		both(p.RequiredDuringSchedulingIgnoredDuringExecution, p.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

// without returns the labels without those in the set.
func (n labelSet) without(labels map[string]string) map[string]string {
	for key := range labels {
		if n.has(key) {
			out := maps.Clone(labels)
			maps.DeleteFunc(out, func(k, _ string) bool { return n.has(k) })
			return out
		}
	}
	return labels
}
