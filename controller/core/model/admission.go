package model

import "slices"

// MeetAll says whether labels meet every one of the requirements. No requirements at all
// are met by any labels.
func MeetAll(labels map[string]string, all []Requirement) bool {
	for i := range all {
		value, present := labels[all[i].Key]
		if !all[i].Matches(value, present) {
			return false
		}
	}
	return true
}

// Matches says whether labels meet every requirement of the term. An empty term matches
// nothing, as in Kubernetes.
func (t Term) Matches(labels map[string]string) bool {
	return len(t) > 0 && MeetAll(labels, t)
}

// Selects says whether a node with the labels meets the spec's node selector and its
// required node affinity, of which one term has to match.
func (s *PodSpec) Selects(labels map[string]string) bool {
	for key, want := range s.NodeSelector {
		if value, present := labels[key]; !present || value != want {
			return false
		}
	}
	return s.Affinity == nil || slices.ContainsFunc(s.Affinity, func(t Term) bool { return t.Matches(labels) })
}

// Tolerates says whether one of the spec's tolerations is for the taint.
func (s *PodSpec) Tolerates(t *Taint) bool {
	return slices.ContainsFunc(s.Tolerations, func(o Toleration) bool { return o.Matches(t) })
}

// Untolerated is the first of the taints that keeps pods of the spec off a node; nil for
// none. Taints of effect PreferNoSchedule keep no pod off.
func (s *PodSpec) Untolerated(taints []Taint) *Taint {
	for i := range taints {
		if t := &taints[i]; t.Effect != PreferNoSchedule && !s.Tolerates(t) {
			return t
		}
	}
	return nil
}

// Admits says whether the node's labels and taints admit pods of the spec: its node
// selector, its required node affinity and its tolerations. Resources, ports, and what
// depends on other pods are not looked at.
func (n *Node) Admits(s *PodSpec) bool {
	return s.Untolerated(n.Taints) == nil && s.Selects(n.Labels)
}
