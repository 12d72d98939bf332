package raise

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/tools/reference/oracle"
)

func podSpec(p *model.PodSpec) corev1.PodSpec {
	requests := p.Requests.Clone()
	delete(requests, model.PodSlots)
	c := corev1.Container{Name: "main", Image: "none", Resources: corev1.ResourceRequirements{Requests: oracle.Quantities(requests)}}
	for _, port := range p.HostPorts {
		c.Ports = append(c.Ports, corev1.ContainerPort{HostPort: port.Port, ContainerPort: port.Port, HostIP: port.IP, Protocol: corev1.Protocol(port.Protocol)})
	}
	return corev1.PodSpec{
		Containers: []corev1.Container{c}, NodeSelector: p.NodeSelector, Priority: new(p.Priority), Affinity: affinity(p),
		Tolerations: tolerations(p.Tolerations), TopologySpreadConstraints: spreads(p.Spread),
	}
}

func tolerations(in []model.Toleration) []corev1.Toleration {
	var out []corev1.Toleration
	for _, t := range in {
		x := corev1.Toleration{Key: t.Key, Operator: corev1.TolerationOpEqual, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)}
		if t.Exists {
			x.Operator, x.Value = corev1.TolerationOpExists, ""
		}
		out = append(out, x)
	}
	return out
}

func spreads(in []model.Spread) []corev1.TopologySpreadConstraint {
	var out []corev1.TopologySpreadConstraint
	for i := range in {
		s := &in[i]
		c := corev1.TopologySpreadConstraint{
			TopologyKey: s.Key, MaxSkew: s.MaxSkew, LabelSelector: selector(&s.Selector), WhenUnsatisfiable: corev1.DoNotSchedule,
			NodeAffinityPolicy: new(corev1.NodeInclusionPolicyHonor), NodeTaintsPolicy: new(corev1.NodeInclusionPolicyIgnore),
		}
		if s.Soft {
			c.WhenUnsatisfiable = corev1.ScheduleAnyway
		}
		if s.MinDomains > 1 {
			c.MinDomains = new(s.MinDomains)
		}
		if s.IgnoreAffinity {
			c.NodeAffinityPolicy = new(corev1.NodeInclusionPolicyIgnore)
		}
		if s.HonorTaints {
			c.NodeTaintsPolicy = new(corev1.NodeInclusionPolicyHonor)
		}
		out = append(out, c)
	}
	return out
}

// selector is nil, which matches nothing, for a selector of nothing.
func selector(s *model.PodSelector) *metav1.LabelSelector {
	if s.Nothing {
		return nil
	}
	out := &metav1.LabelSelector{}
	for _, r := range s.Labels {
		out.MatchExpressions = append(out.MatchExpressions, metav1.LabelSelectorRequirement{Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator), Values: r.Values})
	}
	return out
}

func affinity(p *model.PodSpec) *corev1.Affinity {
	a := &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{}, PodAffinity: &corev1.PodAffinity{}, PodAntiAffinity: &corev1.PodAntiAffinity{}}
	if len(p.Affinity) > 0 {
		a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = &corev1.NodeSelector{}
		for _, t := range p.Affinity {
			s := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
			s.NodeSelectorTerms = append(s.NodeSelectorTerms, nodeTerm(t))
		}
	}
	for _, t := range p.Preferred {
		a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: t.Weight, Preference: nodeTerm(t.Term)})
	}
	a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = podTerms(p.PodAffinity)
	a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = weighted(p.PreferredPods)
	a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = podTerms(p.PodAntiAffinity)
	a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = weighted(p.PreferredApart)
	return a
}

func nodeTerm(t model.Term) corev1.NodeSelectorTerm {
	var out corev1.NodeSelectorTerm
	for _, r := range t {
		out.MatchExpressions = append(out.MatchExpressions, corev1.NodeSelectorRequirement{Key: r.Key, Operator: operator(r.Operator), Values: r.Values})
	}
	return out
}

// operator is an operator of pods, which have no Gte and Lte.
func operator(o model.Operator) corev1.NodeSelectorOperator {
	if o == model.Gte || o == model.Lte {
		panic(fmt.Sprintf("a pod cannot ask for %s", o)) //nolint:forbidigo // a scenario that no generator draws
	}
	return corev1.NodeSelectorOperator(o)
}

func podTerms(in []model.PodTerm) []corev1.PodAffinityTerm {
	var out []corev1.PodAffinityTerm
	for i := range in {
		out = append(out, podTerm(&in[i]))
	}
	return out
}

func podTerm(t *model.PodTerm) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: t.Key, LabelSelector: selector(&t.Selector), Namespaces: t.Selector.Namespaces}
}

func weighted(in []model.WeightedPodTerm) []corev1.WeightedPodAffinityTerm {
	var out []corev1.WeightedPodAffinityTerm
	for i := range in {
		out = append(out, corev1.WeightedPodAffinityTerm{Weight: in[i].Weight, PodAffinityTerm: podTerm(&in[i].Term)})
	}
	return out
}
