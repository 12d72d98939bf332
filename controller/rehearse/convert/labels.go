package convert

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// labels carries labels over. Those that say what the node is become requirements; those
// that only the owner of a domain may set stay behind.
func (d *draft) labels(all map[string]string, field string) {
	for _, key := range slices.Sorted(maps.Keys(all)) {
		value := all[key]
		known := karpv1.NormalizeLabel(key)
		switch domain, _, _ := strings.Cut(key, "/"); {
		case known == karpv1.LabelNodePool || known == karpv1.LabelCapacityType || within(domain, karpv1.Group) || within(domain, "karpenter.k8s.aws"):
			d.note(field, "label %s is set by the controller, from requirements", key)
		case slices.Contains(karpv1.WellKnownLabels(), known):
			d.require(known, corev1.NodeSelectorOpIn, value)
		case within(domain, "eks.amazonaws.com") || within(domain, "alpha.eksctl.io"):
			d.note(field, "label %s belongs to the group's maker and is left out: pods that select nodes by it need another label", key)
		case key == corev1.LabelHostname || restricted(domain):
			d.note(field, "label %s lies in a domain of Kubernetes, in which nodes do not label themselves, and is left out", key)
		default:
			if d.pool.Template.Metadata.Labels == nil {
				d.pool.Template.Metadata.Labels = map[string]string{}
			}
			d.pool.Template.Metadata.Labels[key] = value
		}
	}
}

// restricted reports whether a domain is Kubernetes' own, in which a kubelet may set some
// labels only.
func restricted(domain string) bool {
	if within(domain, "node.kubernetes.io") || within(domain, "kubelet.kubernetes.io") || within(domain, "node-restriction.kubernetes.io") {
		return false
	}
	return within(domain, "kubernetes.io") || within(domain, "k8s.io")
}

// within reports whether a domain is one, or a subdomain of it.
func within(domain, of string) bool { return domain == of || strings.HasSuffix(domain, "."+of) }

// taint carries a taint over. Its effect may be written as in EKS's API.
func (d *draft) taint(key, value, effect, field string) {
	known := map[string]corev1.TaintEffect{
		"NO_SCHEDULE": corev1.TaintEffectNoSchedule, "PREFER_NO_SCHEDULE": corev1.TaintEffectPreferNoSchedule, "NO_EXECUTE": corev1.TaintEffectNoExecute,
	}
	as, ok := known[effect]
	if !ok {
		as = corev1.TaintEffect(effect)
	}
	switch as {
	case corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
		d.pool.Template.Spec.Taints = append(d.pool.Template.Spec.Taints, corev1.Taint{Key: key, Value: value, Effect: as})
	default:
		d.need(field, "taint %s=%s has the effect %q: want NoSchedule, PreferNoSchedule or NoExecute", key, value, effect)
	}
}
