package solver

import "slices"

// lure is where pods that were left out before want others: in one of some domains
// of a key, or on a node with room for themselves. The zero value is anywhere.
type lure struct {
	// begins lets the pod be the first of its kind.
	begins      bool
	key, census int32
	values      bitset
	// guest are those who want them on their own node, n how many; nil for a lure
	// to a domain.
	guest *class
	n     int32
}

// at says whether a place is in a domain that the lure names.
func (w *lure) at(x *spot) bool {
	return w.values == nil || x.at[w.key] >= 0 && w.values.has(x.at[w.key])
}

// extend adds the guests to a demand.
func (w *lure) extend(demand *vec) {
	if w.guest != nil {
		demand.add(&w.guest.req, int64(w.n))
	}
}

// suitsGuest says whether the guests may use an offer.
func (t *turns) suitsGuest(w *lure, o int32) bool {
	return w.guest == nil || t.choices.sets[w.guest.offers].has(o)
}

// roomy says whether a host has room for a pod of the class with the guests.
func (t *turns) roomy(h *host, cl *class, w *lure) bool {
	if w.guest == nil {
		return true
	}
	demand := cl.req
	w.extend(&demand)
	return fits(&demand, &h.room, t.dims.n()) && h.admits(w.guest)
}

// lured lists where those left out before want a pod of the class.
func (t *turns) lured(cl *class) []lure {
	if t.spurned == nil || cl.ties == nil || t.tired() {
		return nil
	}
	var out []lure
	for c := range t.classes {
		x := &t.classes[c]
		if x.ties == nil || !t.spurnedOnce(int32(c)) || !t.waits(int32(c)) {
			continue
		}
		for i := range x.ties.own {
			if r := &x.ties.own[i]; r.kind == near && cl.ties.counts(r.census) {
				out = append(out, t.domainLure(x, r)...)
			}
		}
		if slices.ContainsFunc(x.ties.local, func(r rule) bool { return r.kind == near && cl.ties.counts(r.census) }) {
			out = append(out, lure{guest: x, n: t.a.left[c]}, lure{guest: x, n: 1})
		}
	}
	return out
}

// befriended is 1 for classes that some of those left out before want near, 0 for the
// rest.
func (t *turns) befriended(c int32) int {
	if t.classes[c].ties == nil {
		return 0
	}
	for other := range t.classes {
		x := t.classes[other].ties
		if x == nil || !t.spurnedOnce(int32(other)) {
			continue
		}
		for _, r := range slices.Concat(x.own, x.local) {
			if r.kind == near && t.classes[c].ties.counts(r.census) {
				return 1
			}
		}
	}
	return 0
}

// domainLure is where a class wants somebody near: the domains that hold it and suit
// its other rules on the key; nothing where somebody is in one of them.
func (t *turns) domainLure(cl *class, want *rule) []lure {
	w := lure{key: t.keys[want.census], census: want.census, values: newBitset(len(t.domains[t.keys[want.census]].values))}
	h := holder{problem: t.problem, k: w.key, d: &t.domains[w.key], hosts: t.hosts, l: t.l}
	for v := range int32(len(h.d.values)) {
		if slices.ContainsFunc(cl.ties.own, func(r rule) bool {
			return r.kind != near && t.keys[r.census] == w.key && !t.l.keeps(&r, v, 0)
		}) || !h.fitsIn(cl, v) {
			continue
		}
		if t.l.lo[want.census][v] > 0 {
			return nil
		}
		w.values.set(v)
	}
	if w.values.empty() {
		return nil
	}
	return []lure{w}
}

// pays says whether a pod of the class is one to launch a node for where it is
// wanted: no smaller one to come would do.
func (t *turns) pays(cl *class, w *lure) bool {
	if w.values == nil {
		return true
	}
	h := holder{problem: t.problem, k: w.key, d: &t.domains[w.key], hosts: t.hosts, l: t.l}
	for c := range t.classes {
		x := &t.classes[c]
		if x.ties == nil || !t.waits(int32(c)) || !x.ties.counts(w.census) || t.size(&x.req) >= t.size(&cl.req) {
			continue
		}
		for v := w.values.next(0); v >= 0; v = w.values.next(v + 1) {
			if h.fitsIn(x, v) {
				return false
			}
		}
	}
	return true
}
