package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// affinityTarget restricts where a pod is placed, so that it satisfies the affinity
// of pods that failed before: to some domains of a key, or to a node with room for
// the pods that depend on it. The zero value does not restrict.
type affinityTarget struct {
	// seed allows the pod to be the first that satisfies its own affinity.
	seed       bool
	key, group int32
	domains    vec.Bits
	// dependents is the class that needs the pod on its own node, and n is how many
	// of its pods need room there. It is nil for a target domain.
	dependents *problem.Class
	n          int32
}

// includes reports whether the position is in one of the target's domains.
func (w *affinityTarget) includes(x *topologyPosition) bool {
	return w.domains == nil || x.domain[w.key] >= 0 && w.domains.Has(x.domain[w.key])
}

// addDependents adds the requests of the dependents to a demand.
func (w *affinityTarget) addDependents(demand *vec.Vector) {
	if w.dependents != nil {
		demand.Add(&w.dependents.Requests, int64(w.n))
	}
}

// offerSuitsDependents reports whether the dependents may use the offer.
func (t *insertion) offerSuitsDependents(w *affinityTarget, o int32) bool {
	return w.dependents == nil || t.p.Choices.All[w.dependents.Choice].Has(o)
}

// hostFitsDependents reports whether a host has room for a pod of the class and the
// dependents.
func (t *insertion) hostFitsDependents(h *problem.Host, cl *problem.Class, w *affinityTarget) bool {
	if w.dependents == nil {
		return true
	}
	demand := cl.Requests
	w.addDependents(&demand)
	return vec.Fits(&demand, &h.Free, t.p.Supply.Dims.N()) && h.Admits(w.dependents)
}

// affinityTargets lists the places where a pod of the class would satisfy the
// affinity of pods that failed before.
func (t *insertion) affinityTargets(cl *problem.Class) []affinityTarget {
	if t.by.failures == nil || cl.Terms == nil || t.exhausted() {
		return nil
	}
	var out []affinityTarget
	for c := range t.p.Classes {
		x := &t.p.Classes[c]
		if x.Terms == nil || !t.failedBefore(int32(c)) || !t.hasWaiting(int32(c)) {
			continue
		}
		for i := range x.Terms.DomainRules {
			if r := &x.Terms.DomainRules[i]; r.Kind == constraint.Affinity && cl.Terms.IsCountedBy(r.Group) {
				out = append(out, t.domainTarget(x, r)...)
			}
		}
		if slices.ContainsFunc(x.Terms.HostRules, func(r constraint.Rule) bool { return r.Kind == constraint.Affinity && cl.Terms.IsCountedBy(r.Group) }) {
			out = append(out, affinityTarget{dependents: x, n: t.a.Left[c]}, affinityTarget{dependents: x, n: 1})
		}
	}
	return out
}

// isAffinityTarget is 1 for a class that the affinity of a class that failed before
// selects, 0 otherwise.
func (t *insertion) isAffinityTarget(c int32) int {
	if t.p.Classes[c].Terms == nil {
		return 0
	}
	for other := range t.p.Classes {
		x := t.p.Classes[other].Terms
		if x == nil || !t.failedBefore(int32(other)) {
			continue
		}
		for _, r := range slices.Concat(x.DomainRules, x.HostRules) {
			if r.Kind == constraint.Affinity && t.p.Classes[c].Terms.IsCountedBy(r.Group) {
				return 1
			}
		}
	}
	return 0
}

// domainTarget returns the domains that can hold a pod of the class and satisfy its
// other rules on the key. It returns nil when one of them already has a pod that
// satisfies the affinity rule want.
func (t *insertion) domainTarget(cl *problem.Class, want *constraint.Rule) []affinityTarget {
	w := affinityTarget{key: t.groupKeys[want.Group], group: want.Group, domains: vec.NewBits(len(t.space.Keys[t.groupKeys[want.Group]].Values))}
	for v := range int32(len(t.space.Keys[w.key].Values)) {
		if slices.ContainsFunc(cl.Terms.DomainRules, func(r constraint.Rule) bool {
			return r.Kind != constraint.Affinity && t.groupKeys[r.Group] == w.key && !t.counts.Satisfies(&r, v, 0)
		}) || !t.space.Fits(cl, nil, w.key, v) {
			continue
		}
		if t.counts.Certain[want.Group][v] > 0 {
			return nil
		}
		w.domains.Set(v)
	}
	if w.domains.Empty() {
		return nil
	}
	return []affinityTarget{w}
}

// worthNewNode reports whether a node may be launched for a pod of the class at the
// target. It returns false when a smaller pod that still waits would satisfy the
// same affinity.
func (t *insertion) worthNewNode(cl *problem.Class, w *affinityTarget) bool {
	if w.domains == nil {
		return true
	}
	for c := range t.p.Classes {
		x := &t.p.Classes[c]
		if x.Terms == nil || !t.hasWaiting(int32(c)) || !x.Terms.IsCountedBy(w.group) || t.p.Size(&x.Requests) >= t.p.Size(&cl.Requests) {
			continue
		}
		for v := w.domains.Next(0); v >= 0; v = w.domains.Next(v + 1) {
			if t.space.Fits(x, nil, w.key, v) {
				return false
			}
		}
	}
	return true
}
