package solver

import (
	"cmp"
	"slices"
)

// hold settles before packing which domains pods go to, for every key that
// topology constraints name but the hostname: classes are split, and each part
// is held to a domain. Pods that are counted somewhere are dealt one by one, so
// that the counts are known; those that only mind others choose among what
// then suits them.
func (p *problem) hold(hosts []host) {
	p.newDomains(hosts)
	if len(p.domains) > 0 {
		p.ledger = p.newLedger(hosts)
	}
	for k := range p.domains {
		h := holder{problem: p, k: int32(k), d: &p.domains[k], hosts: hosts, l: p.ledger}
		h.load, h.slack = make([]float64, len(h.d.values)), make([]vec, len(hosts))
		for i := range hosts {
			h.slack[i] = hosts[i].room
		}
		h.run()
	}
	if len(p.domains) > 0 {
		p.classes = sortClasses(p.classes)
	}
}

// holder deals the pods that mind one key.
type holder struct {
	*problem
	k     int32
	d     *domains
	hosts []host
	l     *ledger
	load  []float64
	parts []part
	// slack is what the hosts have left.
	slack []vec
	// narrowed remembers restricted choices.
	narrowed map[narrowing]int32
}

// dealing is what a domain is chosen by, of those that the rules allow.
type dealing uint8

const (
	// evenFirst: what spreads even out, then the price.
	evenFirst dealing = iota
	// freeFirst: the same after room on existing nodes.
	freeFirst
	// cheapestFirst: the price, and then what spreads even out.
	cheapestFirst
)

// part is a class being dealt.
type part struct {
	class int32
	// own are the rules on this key, counted the censuses on it.
	own     []rule
	counted []int32
	// sure says, by counted census, that the pod is counted wherever it goes.
	sure     []bool
	feasible []bool
	price    []float64
	// next is, by domain, the first node that may have room.
	next []int32
	rest int32
	got  []int32
	near bool
	// free says that the class is not counted: it is not dealt, but restricted.
	free bool
}

func (h *holder) run() {
	for c := range h.classes {
		h.part(int32(c))
	}
	slices.SortStableFunc(h.parts, func(a, b part) int {
		if a.near != b.near {
			if b.near {
				return -1
			}
			return 1
		}
		if o := cmp.Compare(h.classes[b.class].priority, h.classes[a.class].priority); o != 0 {
			return o
		}
		return cmp.Compare(some(a.feasible), some(b.feasible))
	})
	for h.pass() || h.bootstrap() {
	}
	h.split()
}

func some(list []bool) int {
	n := 0
	for _, ok := range list {
		if ok {
			n++
		}
	}
	return n
}

// part notes a class that minds the key.
func (h *holder) part(c int32) {
	cl := &h.classes[c]
	if cl.ties == nil || len(cl.reasons) > 0 {
		return
	}
	x := part{class: c, free: true, rest: cl.n()}
	for _, r := range cl.ties.own {
		if h.topo.censuses[r.census].key == h.d.key {
			x.own = append(x.own, r)
			x.near = x.near || r.kind == near
			x.free = x.free && r.kind != apart && r.kind != near
		}
	}
	for _, g := range cl.ties.counted {
		if h.topo.censuses[g].key == h.d.key {
			x.counted = append(x.counted, g)
			x.sure = append(x.sure, h.surely(cl, g))
			x.free = false
		}
	}
	if len(x.own)+len(x.counted) == 0 {
		return
	}
	x.got, x.next = make([]int32, len(h.d.values)), make([]int32, len(h.d.values))
	x.price = h.pricesFor(h.d, cl.offers)
	x.feasible = make([]bool, len(h.d.values))
	for v := range x.feasible {
		x.feasible[v] = h.fitsIn(cl, int32(v))
	}
	h.parts = append(h.parts, x)
}

// surely says whether pods of the class are counted wherever they may go.
func (h *holder) surely(cl *class, g int32) bool {
	c := &h.topo.censuses[g]
	if c.filter == nil {
		return true
	}
	for _, r := range cl.ties.own {
		if r.census == g {
			return true // its own filter
		}
	}
	if !h.l.pass[g].contains(h.choices.sets[cl.offers]) {
		return false
	}
	for i := range h.hosts {
		if h.hosts[i].admits(cl) && !c.lets(&h.hosts[i]) {
			return false
		}
	}
	return true
}

// fitsIn says whether anything in the domain holds a pod of the class.
func (h *holder) fitsIn(cl *class, v int32) bool {
	set, in := h.choices.sets[cl.offers], h.d.sets[v]
	for o := set.next(0); o >= 0; o = set.next(o + 1) {
		if in.has(o) && fits(&cl.req, &h.bins[h.offers[o].bin].room, h.dims.n()) {
			return true
		}
	}
	for i := range h.hosts {
		x := &h.hosts[i]
		if x.at[h.k] == v && fits(&cl.req, &x.room, h.dims.n()) && x.within(cl.held) && x.admits(cl) {
			return true
		}
	}
	return false
}
