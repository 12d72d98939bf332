package solver

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// seat says where a class was held, and what counts it there. A class that is
// not counted has one for each domain that it may use.
type seat struct {
	part *part
	v    int32
}

// settle takes pods back whose constraints do not hold in the plan as it has
// become: pods that were dealt to a domain may have found no node there, and
// others relied on them.
func (p *problem) settle(a *attempt, hosts []host) {
	if p.ledger == nil {
		return
	}
	placed := make([]int32, len(p.classes))
	for c := range p.classes {
		cl := &p.classes[c]
		placed[c] = cl.n() - a.left[c]
		p.uncount(cl, a.left[c])
	}
	for again := true; again; {
		again = false
		for c := range p.classes {
			n, why := p.excess(&p.classes[c], placed[c])
			if n == 0 {
				continue
			}
			again = true
			placed[c] -= n
			p.uncount(&p.classes[c], n)
			a.evict(hosts, int32(c), n)
			p.classes[c].reasons = []model.Reason{why}
		}
		for h := range hosts {
			again = p.strand(a, &hosts[h], placed) || again
		}
	}
	a.nodes = slices.DeleteFunc(a.nodes, func(n *planned) bool { return len(n.takes) == 0 })
}

// strand takes back the pods of a host that want others on it which have had to
// go.
func (p *problem) strand(a *attempt, h *host, placed []int32) bool {
	for _, t := range h.takes {
		cl := &p.classes[t.class]
		if cl.follows() == 0 || p.accompanied(h, cl) {
			continue
		}
		h.withdraw(cl, t.class, t.n)
		a.left[t.class] += t.n
		placed[t.class] -= t.n
		p.uncount(cl, t.n)
		cl.reasons = []model.Reason{{Code: model.PodAffinity, Message: "the pods that it wants on its own node have no place themselves"}}
		return true
	}
	return false
}

// accompanied says whether a host has somebody that the class wants near and
// that does not want the same.
func (p *problem) accompanied(h *host, cl *class) bool {
	for _, r := range cl.ties.local {
		if r.kind != near {
			continue
		}
		n := int32(0)
		if s := h.with.of(r.census); s != nil {
			n = s.n
		}
		for _, t := range h.takes {
			if other := p.classes[t.class].ties; other != nil && slices.Contains(other.local, r) && other.counts(r.census) {
				n -= t.n
			}
		}
		if n <= 0 {
			return false
		}
	}
	return true
}

// withdraw takes back n pods of a class.
func (h *host) withdraw(cl *class, c, n int32) int32 {
	got := withdraw(&h.takes, c, n)
	if cl.ties != nil {
		for _, g := range cl.ties.localCounted {
			h.with.need(g).n -= got
		}
	}
	return got
}

// uncount takes n pods of a class out of the ledger.
func (p *problem) uncount(cl *class, n int32) {
	for i := range cl.seats {
		if s := &cl.seats[i]; n > 0 && !s.part.free {
			p.ledger.count(s.part, s.v, -n)
		}
	}
}

// excess is how many of the class's pods have to go, and why.
func (p *problem) excess(cl *class, placed int32) (int32, model.Reason) {
	if placed == 0 {
		return 0, model.Reason{}
	}
	for i := range cl.seats {
		s := &cl.seats[i]
		for j := range s.part.own {
			r := &s.part.own[j]
			if p.ledger.keeps(r, s.v, 0) && !p.ledger.adrift(r, s.v) {
				continue
			}
			n := placed
			if r.kind == spreads && slices.Contains(s.part.counted, r.census) {
				n = min(placed, p.ledger.hi[r.census][s.v]-p.ledger.least(r)-r.max)
			}
			return n, model.Reason{
				Code:    r.code(),
				Message: "what its topology constraint on " + p.topo.censuses[r.census].key + " counts has no place itself",
			}
		}
	}
	return 0, model.Reason{}
}

// adrift says whether the pods of a domain want somebody near whom only they
// themselves could be, while there are others elsewhere: the scheduler would
// send the first of them there.
func (l *ledger) adrift(r *rule, v int32) bool {
	return r.kind == near && l.lo[r.census][v] == l.following[r.census][v] && l.elsewhere(r, v)
}

// evict takes n pods of a class from where they were placed, planned nodes
// first.
func (a *attempt) evict(hosts []host, c, n int32) {
	a.left[c] += n
	for i := len(a.nodes) - 1; i >= 0 && n > 0; i-- {
		x := a.nodes[i]
		got := withdraw(&x.takes, c, n)
		n -= got
		x.demand.add(&a.p.classes[c].req, -int64(got))
	}
	for i := len(hosts) - 1; i >= 0 && n > 0; i-- {
		n -= hosts[i].withdraw(&a.p.classes[c], c, n)
	}
}

// withdraw takes up to n pods of a class from a list and says how many.
func withdraw(takes *[]take, c, n int32) int32 {
	got := int32(0)
	for i := range *takes {
		if t := &(*takes)[i]; t.class == c {
			m := min(t.n, n-got)
			t.n -= m
			got += m
		}
	}
	*takes = slices.DeleteFunc(*takes, func(t take) bool { return t.n == 0 })
	return got
}
