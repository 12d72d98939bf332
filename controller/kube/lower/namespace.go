package lower

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/model"
)

// namespaces are the cluster's namespaces and their labels. A namespace that only
// appears in pods has just the name label that the API server gives to every namespace.
type namespaces struct {
	labels map[string]map[string]string
	// resolved caches the names that a selector picks, by the selector's encoding.
	resolved map[string][]string
}

func newNamespaces(in *Inputs) namespaces {
	n := namespaces{labels: make(map[string]map[string]string, len(in.Namespaces)), resolved: map[string][]string{}}
	for _, ns := range in.Namespaces {
		n.labels[ns.Name] = withNameLabel(ns.Name, ns.Labels)
	}
	for _, pod := range in.Pods {
		if _, ok := n.labels[pod.Namespace]; !ok {
			n.labels[pod.Namespace] = withNameLabel(pod.Namespace, nil)
		}
	}
	return n
}

// withNameLabel returns the labels with the label kubernetes.io/metadata.name added.
func withNameLabel(name string, labels map[string]string) map[string]string {
	if labels[corev1.LabelMetadataName] == name {
		return labels
	}
	out := map[string]string{}
	maps.Copy(out, labels)
	out[corev1.LabelMetadataName] = name
	return out
}

// ofTerm returns the namespaces to which a pod affinity term applies, sorted: those it
// names and those it selects, or own, the pod's namespace, when it does neither.
func (n *namespaces) ofTerm(term *corev1.PodAffinityTerm, own string) []string {
	if term.NamespaceSelector == nil {
		if len(term.Namespaces) == 0 {
			return []string{own}
		}
		return slices.Compact(slices.Sorted(slices.Values(term.Namespaces)))
	}
	selected := n.selected(term.NamespaceSelector)
	if len(term.Namespaces) == 0 {
		return selected
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(term.Namespaces, selected))))
}

// selected returns the names of the namespaces that the selector picks, sorted.
func (n *namespaces) selected(sel *metav1.LabelSelector) []string {
	raw, err := sel.Marshal()
	key := string(raw)
	if names, ok := n.resolved[key]; ok && err == nil {
		return names
	}
	wanted, _ := requirementsOf(sel)
	out := []string{}
	for _, name := range slices.Sorted(maps.Keys(n.labels)) {
		if model.MeetAll(n.labels[name], wanted) {
			out = append(out, name)
		}
	}
	if err == nil && n.resolved != nil {
		n.resolved[key] = out
	}
	return out
}

// podSelector returns the selector of the pods that a pod affinity term counts.
func (n *namespaces) podSelector(term *corev1.PodAffinityTerm, pod *corev1.Pod) model.PodSelector {
	out := model.PodSelector{Namespaces: n.ofTerm(term, pod.Namespace)}
	out.Labels, out.Nothing = requirementsOf(term.LabelSelector)
	if !out.Nothing {
		out.Labels = mergeLabelKeys(out.Labels, term.MatchLabelKeys, model.In, pod.Labels)
		out.Labels = mergeLabelKeys(out.Labels, term.MismatchLabelKeys, model.NotIn, pod.Labels)
	}
	return out
}
