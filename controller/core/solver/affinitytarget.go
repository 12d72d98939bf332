package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
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
	dependents *class
	n          int32
}

// includes reports whether the position is in one of the target's domains.
func (w *affinityTarget) includes(x *topologyPosition) bool {
	return w.domains == nil || x.domain[w.key] >= 0 && w.domains.Has(x.domain[w.key])
}

// addDependents adds the requests of the dependents to a demand.
func (w *affinityTarget) addDependents(demand *vec.Vector) {
	if w.dependents != nil {
		demand.Add(&w.dependents.req, int64(w.n))
	}
}

// offerSuitsDependents reports whether the dependents may use the offer.
func (t *insertion) offerSuitsDependents(w *affinityTarget, o int32) bool {
	return w.dependents == nil || t.p.choices.All[w.dependents.offers].Has(o)
}

// hostFitsDependents reports whether a host has room for a pod of the class and the
// dependents.
func (t *insertion) hostFitsDependents(h *host, cl *class, w *affinityTarget) bool {
	if w.dependents == nil {
		return true
	}
	demand := cl.req
	w.addDependents(&demand)
	return vec.Fits(&demand, &h.free, t.p.supply.Dims.N()) && h.admits(w.dependents)
}

// affinityTargets lists the places where a pod of the class would satisfy the
// affinity of pods that failed before.
func (t *insertion) affinityTargets(cl *class) []affinityTarget {
	if t.by.failures == nil || cl.terms == nil || t.exhausted() {
		return nil
	}
	var out []affinityTarget
	for c := range t.p.classes {
		x := &t.p.classes[c]
		if x.terms == nil || !t.failedBefore(int32(c)) || !t.hasWaiting(int32(c)) {
			continue
		}
		for i := range x.terms.DomainRules {
			if r := &x.terms.DomainRules[i]; r.Kind == constraint.Affinity && cl.terms.IsCountedBy(r.Group) {
				out = append(out, t.domainTarget(x, r)...)
			}
		}
		if slices.ContainsFunc(x.terms.HostRules, func(r constraint.Rule) bool { return r.Kind == constraint.Affinity && cl.terms.IsCountedBy(r.Group) }) {
			out = append(out, affinityTarget{dependents: x, n: t.a.left[c]}, affinityTarget{dependents: x, n: 1})
		}
	}
	return out
}

// isAffinityTarget is 1 for a class that the affinity of a class that failed before
// selects, 0 otherwise.
func (t *insertion) isAffinityTarget(c int32) int {
	if t.p.classes[c].terms == nil {
		return 0
	}
	for other := range t.p.classes {
		x := t.p.classes[other].terms
		if x == nil || !t.failedBefore(int32(other)) {
			continue
		}
		for _, r := range slices.Concat(x.DomainRules, x.HostRules) {
			if r.Kind == constraint.Affinity && t.p.classes[c].terms.IsCountedBy(r.Group) {
				return 1
			}
		}
	}
	return 0
}

// domainTarget returns the domains that can hold a pod of the class and satisfy its
// other rules on the key. It returns nil when one of them already has a pod that
// satisfies the affinity rule want.
func (t *insertion) domainTarget(cl *class, want *constraint.Rule) []affinityTarget {
	w := affinityTarget{key: t.groupKeys[want.Group], group: want.Group, domains: vec.NewBits(len(t.space.keys[t.groupKeys[want.Group]].values))}
	for v := range int32(len(t.space.keys[w.key].values)) {
		if slices.ContainsFunc(cl.terms.DomainRules, func(r constraint.Rule) bool {
			return r.Kind != constraint.Affinity && t.groupKeys[r.Group] == w.key && !t.counts.satisfies(&r, v, 0)
		}) || !t.space.fits(cl, nil, w.key, v) {
			continue
		}
		if t.counts.certain[want.Group][v] > 0 {
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
func (t *insertion) worthNewNode(cl *class, w *affinityTarget) bool {
	if w.domains == nil {
		return true
	}
	for c := range t.p.classes {
		x := &t.p.classes[c]
		if x.terms == nil || !t.hasWaiting(int32(c)) || !x.terms.IsCountedBy(w.group) || t.p.size(&x.req) >= t.p.size(&cl.req) {
			continue
		}
		for v := w.domains.Next(0); v >= 0; v = w.domains.Next(v + 1) {
			if t.space.fits(x, nil, w.key, v) {
				return false
			}
		}
	}
	return true
}
