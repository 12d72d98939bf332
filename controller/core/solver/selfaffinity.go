package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
)

// selfAffinityState is the state of one topology group that host affinity refers to,
// while pods are placed one by one.
type selfAffinityState struct {
	// count is the number of pods that the group counts. dependents are those of
	// them that have affinity themselves, which the scheduler may have to bind
	// later.
	count, dependents int32
	// seeded is set when the first of them had affinity to the group itself. place
	// is the host or, numbered after the hosts, the new node where it is.
	seeded bool
	place  int32
}

// newSelfAffinity counts the pods on the hosts.
func (t *insertion) newSelfAffinity() {
	t.selfAffinity = make([]selfAffinityState, len(t.groupKeys))
	for i := range t.hosts {
		for _, y := range t.hosts[i].Counts.Counts {
			t.selfAffinity[y.Group].count += y.Count
		}
	}
}

// mayBeFirst reports whether a pod of the class may be the first to satisfy its own
// host affinity: every group that it requires counts the pod itself, and no other
// pod.
func (t *insertion) mayBeFirst(cl *problem.Class) bool {
	if cl.NeedsOthersOnHost() == 0 {
		return false
	}
	for i := range cl.Terms.HostRules {
		if r := &cl.Terms.HostRules[i]; r.Kind == constraint.Affinity && (t.selfAffinity[r.Group].count > 0 || !cl.Terms.IsCountedBy(r.Group)) {
			return false
		}
	}
	return true
}

// breaksSeed reports whether a pod of the class at place at could make the affinity
// of placed pods fail. That is so when all pods that a group counts have affinity to
// it and began at another place: the scheduler might bind the new pod first, and the
// others would then have to follow it.
func (t *insertion) breaksSeed(cl *problem.Class, at int32) bool {
	if cl.Terms == nil {
		return false
	}
	for _, g := range cl.Terms.HostGroups {
		if c := &t.selfAffinity[g]; c.seeded && c.count == c.dependents && c.place != at {
			return true
		}
	}
	return false
}

// recordHostAffinity counts a placed pod in the states of its groups.
func (t *insertion) recordHostAffinity(cl *problem.Class, at int32) {
	if cl.Terms == nil {
		return
	}
	wants := cl.NeedsOthersOnHost() > 0 || slices.ContainsFunc(cl.Terms.DomainRules, func(r constraint.Rule) bool { return r.Kind == constraint.Affinity })
	for _, g := range cl.Terms.HostGroups {
		c := &t.selfAffinity[g]
		if c.count == 0 && slices.ContainsFunc(cl.Terms.HostRules, func(r constraint.Rule) bool { return r.Kind == constraint.Affinity && r.Group == g }) {
			c.seeded, c.place = true, at
		}
		c.count++
		if wants {
			c.dependents++
		}
	}
}

// placeOnHostAt places a pod on a host. With w.seed its host affinity need not be
// met.
func (t *insertion) placeOnHostAt(h *problem.Host, c int32, w *affinityTarget) bool {
	terms := t.p.Classes[c].Terms
	if w.seed {
		alone := *terms
		alone.HostRules = slices.DeleteFunc(slices.Clone(terms.HostRules), func(r constraint.Rule) bool { return r.Kind == constraint.Affinity })
		terms = &alone
	}
	return h.Place(t.p, c, 1, terms) > 0
}
