package lower

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"spokeshave.dev/controller/core/model"
)

// namespaces are the cluster's namespaces and their labels. A namespace that only
// appears in pods has just the name label that the API server gives to every namespace.
type namespaces struct {
	labels map[string]map[string]string
	// resolved caches the names of terms with a selector, by the encoding of the selector and the names
	// that the term has besides.
	resolved map[string][]string
	// listed counts the names in the lists of resolved, by the namespace whose pods asked for them first.
	listed map[string]int
}

// mostListed is how many names of namespaces the terms of one namespace's pods may list in all, equal lists
// counted once: 4 MB of memory. In a cluster of a thousand namespaces these are 222 different selectors of
// all of them: looking at eight namespaces counts as one name.
const mostListed = 250_000

func newNamespaces(in *Inputs) namespaces {
	n := namespaces{labels: make(map[string]map[string]string, len(in.Namespaces)), resolved: map[string][]string{}, listed: map[string]int{}}
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
// names and those it selects, or own, the pod's namespace, when it does neither. ok is false when
// the terms of own's pods have listed as many as they may.
func (n *namespaces) ofTerm(term *corev1.PodAffinityTerm, own string) (names []string, ok bool) {
	if term.NamespaceSelector == nil {
		if len(term.Namespaces) == 0 {
			return []string{own}, true
		}
		return slices.Compact(slices.Sorted(slices.Values(term.Namespaces))), true
	}
	also := slices.Compact(slices.Sorted(slices.Values(term.Namespaces)))
	raw, err := term.NamespaceSelector.Marshal()
	key := strings.Join(also, "/") + "\n" + string(raw)
	if names, ok := n.resolved[key]; ok && err == nil {
		return names, true
	}
	if n.listed[own] >= mostListed {
		return nil, false
	}
	out := n.selected(term.NamespaceSelector, also)
	if err == nil && n.resolved != nil {
		n.resolved[key] = out
	}
	if n.listed != nil {
		n.listed[own] += len(out) + len(n.labels)/8 + 1
	}
	return out, true
}

// selected returns the names of the namespaces that the selector picks, and others, sorted.
func (n *namespaces) selected(sel *metav1.LabelSelector, others []string) []string {
	wanted, _ := requirementsOf(sel)
	out := slices.Clone(others)
	for name, labels := range n.labels {
		if model.MeetAll(labels, wanted) {
			out = append(out, name)
		}
	}
	if out == nil {
		return []string{}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// podSelector returns the selector of the pods that a pod affinity term counts. ok is ofTerm's.
func (n *namespaces) podSelector(term *corev1.PodAffinityTerm, pod *corev1.Pod) (out model.PodSelector, ok bool) {
	if out.Namespaces, ok = n.ofTerm(term, pod.Namespace); !ok {
		return out, false
	}
	out.Labels, out.Nothing = requirementsOf(term.LabelSelector)
	if !out.Nothing {
		out.Labels = mergeLabelKeys(out.Labels, term.MatchLabelKeys, model.In, pod.Labels)
		out.Labels = mergeLabelKeys(out.Labels, term.MismatchLabelKeys, model.NotIn, pod.Labels)
	}
	return out, true
}
