package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// affinityTarget is where pods that were left out before want others: in one of some domains
// of a key, or on a node with room for themselves. The zero value is anywhere.
type affinityTarget struct {
	// seed lets the pod be the first of its kind.
	seed       bool
	key, group int32
	domains    vec.Bits
	// dependents are those who want them on their own node, n how many; nil for a lure
	// to a domain.
	dependents *class
	n          int32
}

// includes says whether a place is in a domain that the lure names.
func (w *affinityTarget) includes(x *topologyPosition) bool {
	return w.domains == nil || x.domain[w.key] >= 0 && w.domains.Has(x.domain[w.key])
}

// addDependents adds the guests to a demand.
func (w *affinityTarget) addDependents(demand *vec.Vector) {
	if w.dependents != nil {
		demand.Add(&w.dependents.req, int64(w.n))
	}
}

// offerSuitsDependents says whether the guests may use an offer.
func (t *insertion) offerSuitsDependents(w *affinityTarget, o int32) bool {
	return w.dependents == nil || t.choices.sets[w.dependents.offers].Has(o)
}

// hostFitsDependents says whether a host has room for a pod of the class with the guests.
func (t *insertion) hostFitsDependents(h *host, cl *class, w *affinityTarget) bool {
	if w.dependents == nil {
		return true
	}
	demand := cl.req
	w.addDependents(&demand)
	return vec.Fits(&demand, &h.free, t.supply.Dims.N()) && h.admits(w.dependents)
}

// affinityTargets lists where those left out before want a pod of the class.
func (t *insertion) affinityTargets(cl *class) []affinityTarget {
	if t.failures == nil || cl.terms == nil || t.exhausted() {
		return nil
	}
	var out []affinityTarget
	for c := range t.classes {
		x := &t.classes[c]
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

// isAffinityTarget is 1 for classes that some of those left out before want near, 0 for the
// rest.
func (t *insertion) isAffinityTarget(c int32) int {
	if t.classes[c].terms == nil {
		return 0
	}
	for other := range t.classes {
		x := t.classes[other].terms
		if x == nil || !t.failedBefore(int32(other)) {
			continue
		}
		for _, r := range slices.Concat(x.DomainRules, x.HostRules) {
			if r.Kind == constraint.Affinity && t.classes[c].terms.IsCountedBy(r.Group) {
				return 1
			}
		}
	}
	return 0
}

// domainTarget is where a class wants somebody near: the domains that hold it and suit
// its other rules on the key; nothing where somebody is in one of them.
func (t *insertion) domainTarget(cl *class, want *constraint.Rule) []affinityTarget {
	w := affinityTarget{key: t.groupKeys[want.Group], group: want.Group, domains: vec.NewBits(len(t.domains[t.groupKeys[want.Group]].values))}
	h := domainAssigner{problem: t.problem, key: w.key, domains: &t.domains[w.key], hosts: t.hosts, counts: t.counts}
	for v := range int32(len(h.domains.values)) {
		if slices.ContainsFunc(cl.terms.DomainRules, func(r constraint.Rule) bool {
			return r.Kind != constraint.Affinity && t.groupKeys[r.Group] == w.key && !t.counts.satisfies(&r, v, 0)
		}) || !h.fitsInDomain(cl, v) {
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

// worthNewNode says whether a pod of the class is one to launch a node for where it is
// wanted: no smaller one to come would do.
func (t *insertion) worthNewNode(cl *class, w *affinityTarget) bool {
	if w.domains == nil {
		return true
	}
	h := domainAssigner{problem: t.problem, key: w.key, domains: &t.domains[w.key], hosts: t.hosts, counts: t.counts}
	for c := range t.classes {
		x := &t.classes[c]
		if x.terms == nil || !t.hasWaiting(int32(c)) || !x.terms.IsCountedBy(w.group) || t.size(&x.req) >= t.size(&cl.req) {
			continue
		}
		for v := w.domains.Next(0); v >= 0; v = w.domains.Next(v + 1) {
			if h.fitsInDomain(x, v) {
				return false
			}
		}
	}
	return true
}
