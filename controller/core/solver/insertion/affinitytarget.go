package insertion

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

// suits reports whether the dependents may use the offer.
func (w *affinityTarget) suits(p *problem.Problem, o int32) bool {
	return w.dependents == nil || p.Choices.All[w.dependents.Choice].Has(o)
}

// fits reports whether a host has room, in n resources, for a pod of the class and
// the dependents.
func (w *affinityTarget) fits(h *problem.Host, cl *problem.Class, n int) bool {
	if w.dependents == nil {
		return true
	}
	demand := cl.Requests
	w.addDependents(&demand)
	return vec.Fits(&demand, &h.Free, n) && h.Admits(w.dependents)
}

// affinityTargets lists the places where a pod of the class would satisfy the
// affinity of pods that failed before.
func (t *Insertion) affinityTargets(cl *problem.Class) []affinityTarget {
	if t.by.Failures == nil || cl.Terms == nil || t.exhausted() {
		return nil
	}
	var out []affinityTarget
	for _, c := range t.wanting {
		if !t.hasWaiting(c) {
			continue
		}
		x := &t.p.Classes[c]
		for i := range x.Terms.DomainRules {
			if r := &x.Terms.DomainRules[i]; r.Kind == constraint.Affinity && cl.Terms.IsCountedBy(r.Group) {
				out = append(out, t.domainTarget(x, r)...)
			}
		}
		if slices.ContainsFunc(x.Terms.HostRules, func(r constraint.Rule) bool { return r.Kind == constraint.Affinity && cl.Terms.IsCountedBy(r.Group) }) {
			out = append(out, affinityTarget{dependents: x, n: t.Attempt.Left[c]}, affinityTarget{dependents: x, n: 1})
		}
	}
	return out
}

// wanting lists the classes that earlier trials left out and that have affinity.
func (by *Strategy) wanting(p *problem.Problem) []int32 {
	var out []int32
	for c := range p.Classes {
		if x := p.Classes[c].Terms; x != nil && by.failedBefore(int32(c)) && slices.ContainsFunc(slices.Concat(x.DomainRules, x.HostRules), isAffinity) {
			out = append(out, int32(c))
		}
	}
	return out
}

func isAffinity(r constraint.Rule) bool { return r.Kind == constraint.Affinity }

// domainTarget returns the domains that can hold a pod of the class and satisfy its
// other rules on the key. It returns nil when one of them already has a pod that
// satisfies the affinity rule want.
func (t *Insertion) domainTarget(cl *problem.Class, want *constraint.Rule) []affinityTarget {
	w := affinityTarget{key: t.rules.groupKeys[want.Group], group: want.Group, domains: vec.NewBits(len(t.space.Keys[t.rules.groupKeys[want.Group]].Values))}
	for v := range int32(len(t.space.Keys[w.key].Values)) {
		if slices.ContainsFunc(cl.Terms.DomainRules, func(r constraint.Rule) bool {
			return r.Kind != constraint.Affinity && t.rules.groupKeys[r.Group] == w.key && !t.rules.counts.Satisfies(&r, v, 0)
		}) || !t.space.Fits(cl, nil, w.key, v, nil) {
			continue
		}
		if t.rules.counts.Certain[want.Group][v] > 0 {
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
func (t *Insertion) worthNewNode(cl *problem.Class, w *affinityTarget) bool {
	if w.domains == nil {
		return true
	}
	for c := range t.p.Classes {
		x := &t.p.Classes[c]
		if x.Terms == nil || !t.hasWaiting(int32(c)) || !x.Terms.IsCountedBy(w.group) || t.p.Size(&x.Requests) >= t.p.Size(&cl.Requests) {
			continue
		}
		for v := w.domains.Next(0); v >= 0; v = w.domains.Next(v + 1) {
			if t.space.Fits(x, nil, w.key, v, nil) {
				return false
			}
		}
	}
	return true
}

// placeOnHost places a pod on a host and reports whether it fits. With w.seed its
// host affinity need not be met.
func placeOnHost(p *problem.Problem, h *problem.Host, c int32, w *affinityTarget) bool {
	terms := p.Classes[c].Terms
	if w.seed {
		alone := *terms
		alone.HostRules = slices.DeleteFunc(slices.Clone(terms.HostRules), func(r constraint.Rule) bool { return r.Kind == constraint.Affinity })
		terms = &alone
	}
	return h.Place(p, c, 1, terms) > 0
}
