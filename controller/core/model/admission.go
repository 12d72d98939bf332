package model

import "slices"

// Label returns the value of a node's label, and whether the node has it. It is used where
// labels are not known as a map, as of nodes that are only planned.
type Label = func(key string) (value string, set bool)

// labelOf looks labels up in a map.
func labelOf(labels map[string]string) Label {
	return func(key string) (string, bool) {
		value, set := labels[key]
		return value, set
	}
}

// MeetAll reports whether the labels meet every requirement. Any labels meet an
// empty list.
func MeetAll(labels map[string]string, all []Requirement) bool {
	return meetAll(labelOf(labels), all)
}

func meetAll(label Label, all []Requirement) bool {
	for i := range all {
		value, present := label(all[i].Key)
		if !all[i].Matches(value, present) {
			return false
		}
	}
	return true
}

// Matches reports whether the labels meet every requirement of the term. An empty
// term matches nothing, as in Kubernetes.
func (t Term) Matches(label Label) bool { return len(t) > 0 && meetAll(label, t) }

// Selects reports whether a node with the labels meets the spec's node selector and
// at least one of its required node affinity terms, if it has any.
func (s *PodSpec) Selects(label Label) bool {
	for key, want := range s.NodeSelector {
		if value, present := label(key); !present || value != want {
			return false
		}
	}
	return s.Affinity == nil || slices.ContainsFunc(s.Affinity, func(t Term) bool { return t.Matches(label) })
}

// Tolerates reports whether one of the spec's tolerations matches the taint.
func (s *PodSpec) Tolerates(t *Taint) bool {
	return slices.ContainsFunc(s.Tolerations, func(o Toleration) bool { return o.Matches(t) })
}

// Untolerated returns the first taint that keeps pods of the spec off a node, nil
// for none. Taints with effect PreferNoSchedule keep no pod off.
func (s *PodSpec) Untolerated(taints []Taint) *Taint {
	return Untolerated(s.Tolerations, taints, false)
}

// Untolerated returns the first taint that none of the tolerations matches, nil for none.
// Taints with effect PreferNoSchedule count if soft is set.
func Untolerated(tolerations []Toleration, taints []Taint, soft bool) *Taint { //nolint:revive // which taints count
	for i := range taints {
		t := &taints[i]
		if t.Effect == PreferNoSchedule && !soft {
			continue
		}
		if !slices.ContainsFunc(tolerations, func(o Toleration) bool { return o.Matches(t) }) {
			return t
		}
	}
	return nil
}

// Admits reports whether the node's labels and taints admit pods of the spec: its
// node selector, its required node affinity and its tolerations. It does not
// consider resources, ports or other pods.
func (n *Node) Admits(s *PodSpec) bool {
	return s.Untolerated(n.Taints) == nil && s.Selects(labelOf(n.Labels))
}
