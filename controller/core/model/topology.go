package model

import "slices"

// PodSelector says which pods a topology constraint counts. Lowering has
// already resolved namespace selectors into names and merged matchLabelKeys
// and mismatchLabelKeys into Labels, so that it depends on nothing else.
type PodSelector struct {
	// Nothing is the absent label selector, which matches no pod.
	Nothing bool `json:"nothing,omitempty"`
	// Namespaces are sorted; a pod elsewhere does not count.
	Namespaces []string `json:"namespaces,omitempty"`
	// Labels must all hold of the pod's labels (In, NotIn, Exists and
	// DoesNotExist); none at all matches every pod of the namespaces.
	Labels []Requirement `json:"labels,omitempty"`
}

// Matches says whether a pod of the namespace with these labels counts.
func (s *PodSelector) Matches(namespace string, labels map[string]string) bool {
	if s.Nothing {
		return false
	}
	if _, found := slices.BinarySearch(s.Namespaces, namespace); !found {
		return false
	}
	return MeetAll(labels, s.Labels)
}

// Spread is a topology spread constraint: over the domains of Key, the counts
// of matching pods may differ by MaxSkew at most.
type Spread struct {
	// Key is the node label whose values are the domains. Nodes without it
	// take no pod with the constraint.
	Key      string      `json:"key"`
	MaxSkew  int32       `json:"maxSkew"`
	Selector PodSelector `json:"selector"`
	// MinDomains: with fewer eligible domains the least count is taken as 0.
	// It is 1 where the pod says nothing.
	MinDomains int32 `json:"minDomains"`
	// Soft is whenUnsatisfiable: ScheduleAnyway, a preference.
	Soft bool `json:"soft,omitempty"`
	// IgnoreAffinity is nodeAffinityPolicy: Ignore. Otherwise only nodes
	// that meet the pod's node selector and affinity are counted.
	IgnoreAffinity bool `json:"ignoreAffinity,omitempty"`
	// HonorTaints is nodeTaintsPolicy: Honor. Otherwise nodes whose taints
	// the pod does not tolerate are counted too.
	HonorTaints bool `json:"honorTaints,omitempty"`
}

// PodTerm asks for (affinity) or against (anti-affinity) a matching pod in the
// same domain of Key.
type PodTerm struct {
	Key      string      `json:"key"`
	Selector PodSelector `json:"selector"`
}

// WeightedPodTerm is a preference: a term and its weight, 1 to 100.
type WeightedPodTerm struct {
	Weight int32   `json:"weight"`
	Term   PodTerm `json:"term"`
}
