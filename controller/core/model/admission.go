package model

import "slices"

// MeetAll reports whether the labels meet every requirement. Any labels meet an
// empty list.
func MeetAll(labels map[string]string, all []Requirement) bool {
	for i := range all {
		value, present := labels[all[i].Key]
		if !all[i].Matches(value, present) {
			return false
		}
	}
	return true
}

// Matches reports whether the labels meet every requirement of the term. An empty
// term matches nothing, as in Kubernetes.
func (t Term) Matches(labels map[string]string) bool {
	return len(t) > 0 && MeetAll(labels, t)
}

// Selects reports whether a node with the labels meets the spec's node selector and
// at least one of its required node affinity terms.
func (s *PodSpec) Selects(labels map[string]string) bool {
	for key, want := range s.NodeSelector {
		if value, present := labels[key]; !present || value != want {
			return false
		}
	}
	return s.Affinity == nil || slices.ContainsFunc(s.Affinity, func(t Term) bool { return t.Matches(labels) })
}

// Tolerates reports whether one of the spec's tolerations matches the taint.
func (s *PodSpec) Tolerates(t *Taint) bool {
	return slices.ContainsFunc(s.Tolerations, func(o Toleration) bool { return o.Matches(t) })
}

// Untolerated returns the first taint that keeps pods of the spec off a node, nil
// for none. Taints with effect PreferNoSchedule keep no pod off.
func (s *PodSpec) Untolerated(taints []Taint) *Taint {
	for i := range taints {
		if t := &taints[i]; t.Effect != PreferNoSchedule && !s.Tolerates(t) {
			return t
		}
	}
	return nil
}

// Admits reports whether the node's labels and taints admit pods of the spec: its
// node selector, its required node affinity and its tolerations. It does not
// consider resources, ports or other pods.
func (n *Node) Admits(s *PodSpec) bool {
	return s.Untolerated(n.Taints) == nil && s.Selects(n.Labels)
}
