package lower

import (
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// quotas know how much the ResourceQuotas of each namespace leave, in thousandths of the
// unit of each resource. Their scopes are not looked at: each counts for every pod.
type quotas map[string][]map[corev1.ResourceName]int64

func newQuotas(all []*corev1.ResourceQuota) quotas {
	out := quotas{}
	for _, q := range all {
		left := make(map[corev1.ResourceName]int64, len(q.Spec.Hard))
		for name := range q.Spec.Hard {
			hard, used := q.Status.Hard[name], q.Status.Used[name] // nothing is let in before they are known
			left[name] = max(0, hard.MilliValue()-used.MilliValue())
		}
		out[q.Namespace] = append(out[q.Namespace], left)
	}
	return out
}

// take returns how many of n pods like the given one the quotas of its namespace let in,
// and counts them as used.
func (q quotas) take(like *corev1.Pod, n int) int {
	all := q[like.Namespace]
	if len(all) == 0 {
		return n
	}
	like = boundedPod(like)
	requests := resourcehelper.PodRequests(like, resourcehelper.PodResourcesOptions{})
	limits := resourcehelper.PodLimits(like, resourcehelper.PodResourcesOptions{})
	for _, left := range all {
		for name, free := range left {
			if each := counted(name, requests, limits); each > 0 {
				n = int(min(int64(n), free/each))
			}
		}
	}
	for _, left := range all {
		for name := range left {
			left[name] -= counted(name, requests, limits) * int64(n)
		}
	}
	return n
}

// counted returns what a quota counts of a pod under a name, in thousandths: 0 for what it
// does not count of pods.
func counted(name corev1.ResourceName, requests, limits corev1.ResourceList) int64 {
	of := func(list corev1.ResourceList, name string) int64 {
		amount := list[corev1.ResourceName(name)]
		return min(amount.MilliValue(), math.MaxInt64/announcedMost)
	}
	text := string(name)
	switch {
	case text == "pods", text == "count/pods":
		return 1000
	case name == corev1.ResourceCPU, name == corev1.ResourceMemory, name == corev1.ResourceEphemeralStorage:
		return of(requests, text)
	case strings.HasPrefix(text, "requests."):
		return of(requests, strings.TrimPrefix(text, "requests."))
	case strings.HasPrefix(text, "limits."):
		return of(limits, strings.TrimPrefix(text, "limits."))
	}
	return 0
}
