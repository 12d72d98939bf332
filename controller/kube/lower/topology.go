package lower

import (
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
	if p := a.PodAffinity; p != nil {
		out.PodAffinity = s.terms(p.RequiredDuringSchedulingIgnoredDuringExecution, pod)
		out.PreferredPods = s.weightedTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, pod)
	}
	if p := a.PodAntiAffinity; p != nil {
		out.PodAntiAffinity = s.terms(p.RequiredDuringSchedulingIgnoredDuringExecution, pod)
		out.PreferredApart = s.weightedTerms(p.PreferredDuringSchedulingIgnoredDuringExecution, pod)
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

func (s *podLowerer) terms(in []corev1.PodAffinityTerm, pod *corev1.Pod) []model.PodTerm {
	var out []model.PodTerm
	for i := range in {
		out = append(out, s.podTerm(&in[i], pod))
	}
	return out
}

func (s *podLowerer) weightedTerms(in []corev1.WeightedPodAffinityTerm, pod *corev1.Pod) []model.WeightedPodTerm {
	var out []model.WeightedPodTerm
	for i := range in {
		out = append(out, model.WeightedPodTerm{Weight: in[i].Weight, Term: s.podTerm(&in[i].PodAffinityTerm, pod)})
	}
	return out
}

func (s *podLowerer) podTerm(in *corev1.PodAffinityTerm, pod *corev1.Pod) model.PodTerm {
	return model.PodTerm{Key: normalize(in.TopologyKey), Selector: s.namespaces.podSelector(in, pod)}
}
