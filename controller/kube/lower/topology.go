package lower

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/model"
)

// topology fills in the pod's constraints on other pods: topology spread, affinity and
// anti-affinity, required and preferred.
func (s *podLowerer) topology(pod *corev1.Pod, out *model.PodSpec) {
	for i := range pod.Spec.TopologySpreadConstraints {
		out.Spread = append(out.Spread, spread(&pod.Spec.TopologySpreadConstraints[i], pod))
	}
	a := pod.Spec.Affinity
	if a == nil {
		return
	}
	problem := ""
	if p := a.PodAffinity; p != nil {
		out.PodAffinity = s.terms(p.RequiredDuringSchedulingIgnoredDuringExecution, pod, &problem)
		out.PreferredPods = s.weightedTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, pod, &problem)
	}
	if p := a.PodAntiAffinity; p != nil {
		out.PodAntiAffinity = s.terms(p.RequiredDuringSchedulingIgnoredDuringExecution, pod, &problem)
		out.PreferredApart = s.weightedTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, pod, &problem)
	}
	if problem != "" {
		out.Unsupported = append(out.Unsupported, problem)
	}
}

// spread lowers a constraint, with the defaults that the API server would set:
// manifests in files lack them.
// https://kubernetes.io/docs/concepts/scheduling-eviction/topology-spread-constraints/
func spread(c *corev1.TopologySpreadConstraint, pod *corev1.Pod) model.Spread {
	out := model.Spread{
		Key: normalize(c.TopologyKey), MaxSkew: c.MaxSkew, MinDomains: 1,
		Soft:     c.WhenUnsatisfiable == corev1.ScheduleAnyway,
		Selector: model.PodSelector{Namespaces: []string{pod.Namespace}},
	}
	if c.MinDomains != nil {
		out.MinDomains = *c.MinDomains
	}
	out.IgnoreAffinity = c.NodeAffinityPolicy != nil && *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyIgnore
	out.HonorTaints = c.NodeTaintsPolicy != nil && *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyHonor
	out.Selector.Labels, out.Selector.Nothing = requirementsOf(c.LabelSelector)
	if !out.Selector.Nothing {
		out.Selector.Labels = mergeLabelKeys(out.Selector.Labels, c.MatchLabelKeys, model.In, pod.Labels)
	}
	return out
}

// terms lowers terms, and leaves out those that podTerm cannot lower.
func (s *podLowerer) terms(in []corev1.PodAffinityTerm, pod *corev1.Pod, problem *string) []model.PodTerm {
	var out []model.PodTerm
	for i := range in {
		if term, ok := s.podTerm(&in[i], pod, problem); ok {
			out = append(out, term)
		}
	}
	return out
}

func (s *podLowerer) weightedTerms(in []corev1.WeightedPodAffinityTerm, pod *corev1.Pod, problem *string) []model.WeightedPodTerm {
	var out []model.WeightedPodTerm
	for i := range in {
		if term, ok := s.podTerm(&in[i].PodAffinityTerm, pod, problem); ok {
			out = append(out, model.WeightedPodTerm{Weight: in[i].Weight, Term: term})
		}
	}
	return out
}

// podTerm lowers one term. When it is of more namespaces than may be listed, problem says so.
func (s *podLowerer) podTerm(in *corev1.PodAffinityTerm, pod *corev1.Pod, problem *string) (model.PodTerm, bool) {
	selector, ok := s.namespaces.podSelector(in, pod)
	if !ok {
		*problem = fmt.Sprintf("affinity to pods in namespaces that are selected in too many ways: the terms of all pods in namespace %s may list %d names", pod.Namespace, mostListed)
	}
	return model.PodTerm{Key: normalize(in.TopologyKey), Selector: selector}, ok
}
