package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
)

// selfAffinityState is what pods that want others on their own node find of them, when
// pods are placed in turn.
type selfAffinityState struct {
	// count are all that there are, dependents those of them that want somebody near
	// themselves: the scheduler may have to bind them later.
	count, dependents int32
	// seeded says that the first of them wanted its own kind, place is the host or,
	// after them, the node where it is.
	seeded bool
	place  int32
}

// newSelfAffinity counts who is on the hosts.
func (t *insertion) newSelfAffinity() {
	t.selfAffinity = make([]selfAffinityState, len(t.groupKeys))
	for i := range t.hosts {
		for _, y := range t.hosts[i].counts.Counts {
			t.selfAffinity[y.Group].count += y.Count
		}
	}
}

// mayBeFirst says whether a pod of the class may be the first of its kind: it wants
// only those on its node that count it, too, and there is none anywhere.
func (t *insertion) mayBeFirst(cl *class) bool {
	if cl.needsOthersOnHost() == 0 {
		return false
	}
	for i := range cl.terms.HostRules {
		if r := &cl.terms.HostRules[i]; r.Kind == constraint.Affinity && (t.selfAffinity[r.Group].count > 0 || !cl.terms.IsCountedBy(r.Group)) {
			return false
		}
	}
	return true
}

// breaksSeed says whether a pod of the class would be at a place where it takes their
// home from pods that began a kind without anybody who is sure to be bound there:
// the scheduler might bind it first, and would send them after it.
func (t *insertion) breaksSeed(cl *class, at int32) bool {
	if cl.terms == nil {
		return false
	}
	for _, g := range cl.terms.HostGroups {
		if c := &t.selfAffinity[g]; c.seeded && c.count == c.dependents && c.place != at {
			return true
		}
	}
	return false
}

// recordHostAffinity counts a pod that has a place.
func (t *insertion) recordHostAffinity(cl *class, at int32) {
	if cl.terms == nil {
		return
	}
	wants := cl.needsOthersOnHost() > 0 || slices.ContainsFunc(cl.terms.DomainRules, func(r constraint.Rule) bool { return r.Kind == constraint.Affinity })
	for _, g := range cl.terms.HostGroups {
		c := &t.selfAffinity[g]
		if c.count == 0 && slices.ContainsFunc(cl.terms.HostRules, func(r constraint.Rule) bool { return r.Kind == constraint.Affinity && r.Group == g }) {
			c.seeded, c.place = true, at
		}
		c.count++
		if wants {
			c.dependents++
		}
	}
}

// placeOnHostAt puts a pod on a host; one that begins its kind also where nobody is whom it
// wants.
func (t *insertion) placeOnHostAt(h *host, c int32, w *affinityTarget) bool {
	cl := &t.classes[c]
	if !w.seed {
		return t.placeOnHost(h, c, 1) > 0
	}
	wants := cl.terms
	alone := *wants
	alone.HostRules = slices.DeleteFunc(slices.Clone(wants.HostRules), func(r constraint.Rule) bool { return r.Kind == constraint.Affinity })
	cl.terms = &alone
	got := t.placeOnHost(h, c, 1)
	cl.terms = wants
	return got > 0
}
