package insertion

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

// selfAffinity is, by topology group, the state of host affinity.
type selfAffinity []selfAffinityState

// newSelfAffinity counts the pods on the hosts.
func newSelfAffinity(groups int, hosts []problem.Host) selfAffinity {
	t := make(selfAffinity, groups)
	for i := range hosts {
		for _, y := range hosts[i].Counts.Counts {
			t[y.Group].count += y.Count
		}
	}
	return t
}

// mayBeFirst reports whether a pod of the class may be the first to satisfy its own
// host affinity: every group that it requires counts the pod itself, and no other
// pod.
func (t selfAffinity) mayBeFirst(cl *problem.Class) bool {
	if cl.NeedsOthersOnHost() == 0 {
		return false
	}
	for i := range cl.Terms.HostRules {
		if r := &cl.Terms.HostRules[i]; r.Kind == constraint.Affinity && (t[r.Group].count > 0 || !cl.Terms.IsCountedBy(r.Group)) {
			return false
		}
	}
	return true
}

// anyPlace and noPlace are the answers of onlyPlace that are not a place.
const (
	anyPlace int32 = -1
	noPlace  int32 = -2
)

// onlyPlace returns the one place to which pods of the class may go; anyPlace when there
// is no such limit. Elsewhere they could make the affinity of placed pods fail. That is so
// when all pods that a group counts have affinity to it and began at another place: the
// scheduler might bind the new pod first, and the others would then have to follow it.
func (t selfAffinity) onlyPlace(cl *problem.Class) int32 {
	only := anyPlace
	if cl.Terms == nil {
		return only
	}
	for _, g := range cl.Terms.HostGroups {
		switch c := &t[g]; {
		case !c.seeded || c.count != c.dependents || c.place == only:
		case only == anyPlace:
			only = c.place
		default:
			return noPlace
		}
	}
	return only
}

// record counts a placed pod in the states of its groups.
func (t selfAffinity) record(cl *problem.Class, at int32) {
	if cl.Terms == nil {
		return
	}
	wants := cl.NeedsOthersOnHost() > 0 || slices.ContainsFunc(cl.Terms.DomainRules, func(r constraint.Rule) bool { return r.Kind == constraint.Affinity })
	for _, g := range cl.Terms.HostGroups {
		c := &t[g]
		if c.count == 0 && slices.ContainsFunc(cl.Terms.HostRules, func(r constraint.Rule) bool { return r.Kind == constraint.Affinity && r.Group == g }) {
			c.seeded, c.place = true, at
		}
		c.count++
		if wants {
			c.dependents++
		}
	}
}
