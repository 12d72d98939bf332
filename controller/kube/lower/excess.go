package lower

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// What a pod may have. The API server bounds none of these, and each costs work in every decision, whoever
// the pod belongs to: a pod with more waits, and says why. On a node, such a pod counts with what
// it requests, and without its constraints.
const (
	// mostTerms is how many terms of node affinity, required or preferred, a pod may have.
	mostTerms = 1000
	// mostPodTerms is how many terms of affinity to pods and of topology spread it may have.
	mostPodTerms = 250
	// mostVolumes is how many volumes it may have.
	mostVolumes = 500
)

// excessOf says of what a pod has more than it may.
func excessOf(pod *corev1.Pod) (out []string) {
	terms, podTerms := 0, len(pod.Spec.TopologySpreadConstraints)
	if a := pod.Spec.Affinity; a != nil {
		if n := a.NodeAffinity; n != nil {
			terms = len(n.PreferredDuringSchedulingIgnoredDuringExecution)
			if required := n.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
				terms += len(required.NodeSelectorTerms)
			}
		}
		if p := a.PodAffinity; p != nil {
			podTerms += len(p.RequiredDuringSchedulingIgnoredDuringExecution) + len(p.PreferredDuringSchedulingIgnoredDuringExecution)
		}
		if p := a.PodAntiAffinity; p != nil {
			podTerms += len(p.RequiredDuringSchedulingIgnoredDuringExecution) + len(p.PreferredDuringSchedulingIgnoredDuringExecution)
		}
	}
	for _, each := range []struct {
		what      string
		has, most int
	}{
		{"terms of node affinity", terms, mostTerms},
		{"terms of affinity to pods and topology spread constraints", podTerms, mostPodTerms},
		{"volumes", len(pod.Spec.Volumes), mostVolumes},
	} {
		if each.has > each.most {
			out = append(out, fmt.Sprintf("%d %s, of which a pod may have %d", each.has, each.what, each.most))
		}
	}
	return out
}

// claimVolumes returns the pod's volumes, none when there are more than it may have.
func claimVolumes(pod *corev1.Pod) []corev1.Volume {
	if len(pod.Spec.Volumes) > mostVolumes {
		return nil
	}
	return pod.Spec.Volumes
}
