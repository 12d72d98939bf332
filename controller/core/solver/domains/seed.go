package domains

import (
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
)

// seedAffinity assigns the first pod of a set of pods that require affinity to each
// other, in a domain where as many of them as possible fit. It reports whether it
// assigned one.
func (h *assigner) seedAffinity() bool {
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

// mayBeFirst reports whether the pod may be the first that satisfies its own
// affinity: no pod that its affinity selects exists in any domain, and the affinity
// selects the pod itself.
func (h *assigner) mayBeFirst(x *demand) bool {
	for i := range x.rules {
		r := &x.rules[i]
		if r.Kind == constraint.Affinity && (!slices.Contains(x.groups, r.Group) || h.counts.CountsElsewhere(r, -1)) {
			return false
		}
	}
	return true
}

// seedDomain returns the domain where most pods with the same affinity fit, then the
// one that betterDomain prefers; -1 for none.
func (h *assigner) seedDomain(x *demand) int32 {
	best, most := int32(-1), int32(0)
	for v := range int32(len(h.domains.Values)) {
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

// violatesOtherRule reports whether a rule other than affinity excludes domain v.
func (h *assigner) violatesOtherRule(x *demand, v int32) bool {
	alone := *x
	alone.rules = nil
	for _, r := range x.rules {
		if r.Kind != constraint.Affinity {
			alone.rules = append(alone.rules, r)
		}
	}
	return h.counts.violatedRule(&alone, v) != nil
}
