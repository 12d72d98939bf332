package model

import "slices"

// PodSelector says which pods a topology constraint counts. It is complete in
// itself: namespace selectors are already resolved to names, and matchLabelKeys and
// mismatchLabelKeys are merged into Labels.
type PodSelector struct {
	// Nothing is set for an absent label selector, which matches no pod.
	Nothing bool `json:"nothing,omitempty"`
	// Namespaces are sorted. A pod in another namespace does not match.
	Namespaces []string `json:"namespaces,omitempty"`
	// Labels are requirements on the pod's labels (In, NotIn, Exists and
	// DoesNotExist), which must all hold. An empty list matches every pod of the
	// namespaces.
	Labels []Requirement `json:"labels,omitempty"`
}

// Matches reports whether the selector counts a pod of the namespace with these
// labels.
func (s *PodSelector) Matches(namespace string, labels map[string]string) bool {
	if s.Nothing {
		return false
	}
	if _, found := slices.BinarySearch(s.Namespaces, namespace); !found {
		return false
	}
	return MeetAll(labels, s.Labels)
}

// Spread is a topology spread constraint: the counts of matching pods in the domains
// of Key may differ by at most MaxSkew.
type Spread struct {
	// Key is the node label whose values are the domains. A node without the label
	// takes no pod with the constraint.
	Key      string      `json:"key"`
	MaxSkew  int32       `json:"maxSkew"`
	Selector PodSelector `json:"selector"`
	// MinDomains is the number of eligible domains below which the least count is
	// taken as 0. It is 1 when the pod does not set it.
	MinDomains int32 `json:"minDomains"`
	// Soft is whenUnsatisfiable: ScheduleAnyway, a preference.
	Soft bool `json:"soft,omitempty"`
	// IgnoreAffinity is nodeAffinityPolicy: Ignore. Otherwise only nodes that meet
	// the pod's node selector and affinity are counted.
	IgnoreAffinity bool `json:"ignoreAffinity,omitempty"`
	// HonorTaints is nodeTaintsPolicy: Honor. Otherwise nodes whose taints the pod
	// does not tolerate are counted too.
	HonorTaints bool `json:"honorTaints,omitempty"`
}

// PodTerm requires (affinity) or forbids (anti-affinity) a matching pod in the same
// domain of Key.
type PodTerm struct {
	Key      string      `json:"key"`
	Selector PodSelector `json:"selector"`
}

// WeightedPodTerm is a preferred term and its weight, 1 to 100.
type WeightedPodTerm struct {
	Weight int32   `json:"weight"`
	Term   PodTerm `json:"term"`
}
