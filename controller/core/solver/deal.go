package solver

import "slices"

// pass deals what can be dealt and says whether there was anything.
func (h *holder) pass() bool {
	dealt := false
	for i := range h.parts {
		x := &h.parts[i]
		for x.rest > 0 && !x.free {
			v := h.choose(x)
			if v < 0 {
				break
			}
			h.put(x, v)
			dealt = true
		}
	}
	return dealt
}

// choose finds the domain for the next pod of a part: of those where all rules
// hold the one with the least counts, then the cheapest, then the emptiest.
func (h *holder) choose(x *part) int32 {
	best := int32(-1)
	for v := range int32(len(h.d.values)) {
		if x.feasible[v] && h.broken(x, v) == nil && (best < 0 || h.before(x, v, best)) {
			best = v
		}
	}
	return best
}

func (h *holder) before(x *part, a, b int32) bool {
	p, q := h.priceIn(x, a), h.priceIn(x, b)
	dearer := p < q*(1-1e-6) || q < p*(1-1e-6)
	if dearer && (h.dealing == cheapestFirst || h.dealing == freeFirst && (p == 0 || q == 0)) {
		return p < q
	}
	m, n := h.crowd(x, a), h.crowd(x, b)
	if m != n {
		return m < n
	}
	if m, n := h.company(x, a), h.company(x, b); m != n {
		return m > n
	}
	if dearer {
		return p < q
	}
	return h.load[a] < h.load[b]
}

// priceIn is what room for a pod costs in the domain: nothing where an
// existing node has some left.
func (h *holder) priceIn(x *part, v int32) float64 {
	if h.roomy(x, v) >= 0 {
		return 0
	}
	return x.price[v]
}

// roomy is the first node of the domain with room for a pod of the part, -1
// when there is none. Nodes only fill up, so that none is looked at twice.
func (h *holder) roomy(x *part, v int32) int {
	cl := &h.classes[x.class]
	for at := &x.next[v]; int(*at) < len(h.hosts); *at++ {
		host := &h.hosts[*at]
		if host.at[h.k] == v && fits(&cl.req, &h.slack[*at], h.dims.n()) && host.within(cl.held) &&
			host.with.allows(cl.ties, 1) > 0 && host.admits(cl) {
			return int(*at)
		}
	}
	return -1
}

// company counts the reasons to go where others like the pod are already: what
// wants others apart, and those others, should not take up every domain.
func (h *holder) company(x *part, v int32) int {
	n := 0
	for i := range x.own {
		if r := &x.own[i]; r.kind == apart && r.max == 0 && h.l.most[r.census][v] == 0 {
			n++
		}
	}
	for _, g := range x.counted {
		if !h.topo.censuses[g].spread && h.l.hi[g][v] > 0 {
			n++
		}
	}
	return n
}

// crowd sums the counts that spreading over the domain would even out.
func (h *holder) crowd(x *part, v int32) int32 {
	n := int32(0)
	for _, g := range x.counted {
		if h.topo.censuses[g].spread {
			n += h.l.hi[g][v]
		}
	}
	return n
}

// broken is a rule that keeps one more pod of the part out of the domain, nil
// when none does.
func (h *holder) broken(x *part, v int32) *rule {
	for i := range x.own {
		r := &x.own[i]
		if !h.l.keeps(r, v, x.times(r.census)) {
			return r
		}
	}
	for _, g := range x.counted {
		if h.l.hi[g][v]+x.times(g) > h.l.most[g][v] {
			return &rule{kind: apart, census: g}
		}
	}
	return nil
}

// times is how often each pod, or bundle, of the part is counted.
func (x *part) times(census int32) int32 {
	at, ok := slices.BinarySearch(x.counted, census)
	if !ok {
		return 0
	}
	return times(x.counted[at:])
}

func (h *holder) put(x *part, v int32) {
	x.rest--
	x.got[v]++
	if at := h.roomy(x, v); at >= 0 {
		h.slack[at].add(&h.classes[x.class].req, -1)
	}
	h.load[v] += h.size(&h.classes[x.class].req)
	h.l.count(x, v, 1)
}

// count adds n pods of a part to the domain.
func (l *ledger) count(x *part, v, n int32) {
	for i, g := range x.counted {
		l.hi[g][v] += n
		if x.sure[i] {
			l.lo[g][v] += n
		}
	}
	for i := range x.own {
		switch r := &x.own[i]; r.kind {
		case apart:
			l.most[r.census][v] = min(l.most[r.census][v], r.max)
		case near:
			l.following[r.census][v] += n * x.times(r.census)
		case spreads, evenly:
		}
	}
}
