package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
)

// seedAffinity places the first pod of one set of pods that want to be near each
// other, where all of them find a place.
func (h *domainAssigner) seedAffinity() bool {
	for i := range h.demands {
		x := &h.demands[i]
		if !x.hasAffinity || x.uncounted || x.unassigned == 0 || !h.mayBeFirst(x) {
			continue
		}
		if v := h.seedDomain(x); v >= 0 {
			h.assign(x, v)
			return true
		}
	}
	return false
}

// mayBeFirst says whether the pod may be the first of its kind: nobody that it
// wants near is anywhere, and it counts itself.
func (h *domainAssigner) mayBeFirst(x *classDemand) bool {
	for i := range x.rules {
		r := &x.rules[i]
		if r.Kind == constraint.Affinity && (!slices.Contains(x.groups, r.Group) || h.counts.countsElsewhere(r, -1)) {
			return false
		}
	}
	return true
}

// countsElsewhere says whether the rule's topology group counts anybody outside domain v.
func (l *domainCounts) countsElsewhere(r *constraint.Rule, v int32) bool {
	for w, n := range l.possible[r.Group] {
		if int32(w) != v && n > 0 {
			return true
		}
	}
	return false
}

// seedDomain is the domain where most pods of the same preference find a place, then the
// cheapest, then the emptiest.
func (h *domainAssigner) seedDomain(x *classDemand) int32 {
	best, most := int32(-1), int32(0)
	for v := range int32(len(h.domains.values)) {
		n := int32(0)
		if !x.feasible[v] || h.violatesOtherRule(x, v) {
			continue
		}
		for j := range h.demands {
			if y := &h.demands[j]; y.feasible[v] && y.sharesAffinity(x) {
				n += y.unassigned
			}
		}
		if n > most || n == most && best >= 0 && h.betterDomain(x, v, best) {
			best, most = v, n
		}
	}
	return best
}

// violatesOtherRule says whether a rule other than affinity is in the way.
func (h *domainAssigner) violatesOtherRule(x *classDemand, v int32) bool {
	alone := *x
	alone.rules = nil
	for _, r := range x.rules {
		if r.Kind != constraint.Affinity {
			alone.rules = append(alone.rules, r)
		}
	}
	return h.violatedRule(&alone, v) != nil
}

// sharesAffinity says whether both want the same pods near.
func (x *classDemand) sharesAffinity(y *classDemand) bool {
	for _, r := range x.rules {
		if r.Kind == constraint.Affinity && slices.Contains(y.rules, r) {
			return true
		}
	}
	return false
}
