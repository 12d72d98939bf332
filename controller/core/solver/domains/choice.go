package domains

import (
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// assignRound assigns the pods that have an allowed domain and reports whether there
// were any.
func (h *assigner) assignRound() bool {
	dealt := false
	for i := range h.demands {
		x := &h.demands[i]
		for x.unassigned > 0 && !x.uncounted {
			v := h.chooseDomain(x)
			if v < 0 {
				break
			}
			h.assign(x, v)
			dealt = true
		}
	}
	return dealt
}

// chooseDomain returns the domain for the next pod of a demand: of those in which
// all rules hold the one that betterDomain prefers; -1 for none.
func (h *assigner) chooseDomain(x *demand) int32 {
	best := int32(-1)
	for v := range int32(len(h.domains.Values)) {
		if x.feasible[v] && h.counts.violatedRule(x, v) == nil && (best < 0 || h.betterDomain(x, v, best)) {
			best = v
		}
	}
	return best
}

func (h *assigner) betterDomain(x *demand, a, b int32) bool {
	p, q := h.domainPrice(x, a), h.domainPrice(x, b)
	dearer := p < q*(1-1e-6) || q < p*(1-1e-6)
	if dearer && (h.order == CheapestFirst || h.order == ExistingFirst && (p == 0 || q == 0)) {
		return p < q
	}
	m, n := h.spreadCount(x, a), h.spreadCount(x, b)
	if m != n {
		return m < n
	}
	if m, n := h.separationOverlap(x, a), h.separationOverlap(x, b); m != n {
		return m > n
	}
	if dearer {
		return p < q
	}
	return h.load[a] < h.load[b]
}

// domainPrice returns the unit price of room in the domain, 0 when an existing node
// has room for a pod.
func (h *assigner) domainPrice(x *demand, v int32) float64 {
	if h.nextHostWithRoom(x, v) >= 0 {
		return 0
	}
	return x.price[v]
}

// nextHostWithRoom returns the first host of the domain with room for a pod of the
// demand, -1 for none. Hosts only fill up, so the search continues where it ended.
func (h *assigner) nextHostWithRoom(x *demand, v int32) int {
	cl := &h.classes[x.class]
	for at := &x.nextHost[v]; int(*at) < len(h.free); *at++ {
		host := &h.space.hosts[*at]
		if h.space.ofHost[*at][h.key] == v && vec.Fits(&cl.Requests, &h.free[*at], h.space.p.Supply.Dims.N()) && h.space.within(int(*at), h.of[x.class].restrictions) &&
			host.Counts.Allows(cl.Terms, 1) > 0 && host.Admits(cl) {
			return int(*at)
		}
	}
	return -1
}

// separationOverlap counts the anti-affinity constraints that already apply to the
// domain. A domain with many is preferred, so that pods with anti-affinity to each
// other do not occupy more domains than necessary.
func (h *assigner) separationOverlap(x *demand, v int32) int {
	n := 0
	for i := range x.rules {
		if r := &x.rules[i]; r.Kind == constraint.AntiAffinity && r.Max == 0 && h.counts.Limit[r.Group][v] == 0 {
			n++
		}
	}
	for _, g := range x.groups {
		if !h.space.p.Topology.All[g].ForSpread && h.counts.Possible[g][v] > 0 {
			n++
		}
	}
	return n
}

// spreadCount returns the sum of the domain's counts over the demand's spread
// groups.
func (h *assigner) spreadCount(x *demand, v int32) int32 {
	n := int32(0)
	for _, g := range x.groups {
		if h.space.p.Topology.All[g].ForSpread {
			n += h.counts.Possible[g][v]
		}
	}
	return n
}

func (h *assigner) assign(x *demand, v int32) {
	x.unassigned--
	x.assigned[v]++
	if at := h.nextHostWithRoom(x, v); at >= 0 {
		h.free[at].Add(&h.classes[x.class].Requests, -1)
	}
	h.load[v] += h.space.p.Size(&h.classes[x.class].Requests)
	h.counts.add(x, v, 1)
}
