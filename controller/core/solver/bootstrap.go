package solver

import "slices"

// bootstrap places the first pod of one set of pods that want to be near each
// other, where all of them find a place.
func (h *holder) bootstrap() bool {
	for i := range h.parts {
		x := &h.parts[i]
		if !x.near || x.free || x.rest == 0 || !h.first(x) {
			continue
		}
		if v := h.home(x); v >= 0 {
			h.put(x, v)
			return true
		}
	}
	return false
}

// first says whether the pod may be the first of its kind: nobody that it
// wants near is anywhere, and it counts itself.
func (h *holder) first(x *part) bool {
	for i := range x.own {
		r := &x.own[i]
		if r.kind == near && (!slices.Contains(x.counted, r.census) || h.l.elsewhere(r, -1)) {
			return false
		}
	}
	return true
}

// elsewhere says whether the rule's census counts anybody outside domain v.
func (l *ledger) elsewhere(r *rule, v int32) bool {
	for w, n := range l.hi[r.census] {
		if int32(w) != v && n > 0 {
			return true
		}
	}
	return false
}

// home is the domain where most pods of the same wish find a place, then the
// cheapest, then the emptiest.
func (h *holder) home(x *part) int32 {
	best, most := int32(-1), int32(0)
	for v := range int32(len(h.d.values)) {
		n := int32(0)
		if !x.feasible[v] || h.barred(x, v) {
			continue
		}
		for j := range h.parts {
			if y := &h.parts[j]; y.feasible[v] && y.shares(x) {
				n += y.rest
			}
		}
		if n > most || n == most && best >= 0 && h.before(x, v, best) {
			best, most = v, n
		}
	}
	return best
}

// barred says whether a rule other than the wish for company is in the way.
func (h *holder) barred(x *part, v int32) bool {
	alone := *x
	alone.own = nil
	for _, r := range x.own {
		if r.kind != near {
			alone.own = append(alone.own, r)
		}
	}
	return h.broken(&alone, v) != nil
}

// shares says whether both want the same pods near.
func (x *part) shares(y *part) bool {
	for _, r := range x.own {
		if r.kind == near && slices.Contains(y.own, r) {
			return true
		}
	}
	return false
}
