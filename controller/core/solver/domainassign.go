package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// assignDomains decides before packing which domains pods go to, for every key that
// topology constraints use except the hostname. It splits classes and restricts each
// part to a domain. Pods that a topology group counts are assigned one by one, so
// that the counts are known. Pods that only have rules and are not counted may then
// use every domain that satisfies their rules.
func (p *problem) assignDomains(hosts []host) {
	p.newDomains(hosts)
	if len(p.domains) > 0 {
		p.counts = p.newDomainCounts(hosts)
	}
	for k := range p.domains {
		h := domainAssigner{problem: p, key: int32(k), domains: &p.domains[k], hosts: hosts, counts: p.counts}
		h.load, h.free = make([]float64, len(h.domains.values)), make([]vec.Vector, len(hosts))
		for i := range hosts {
			h.free[i] = hosts[i].free
		}
		h.run()
	}
	if len(p.domains) > 0 {
		p.classes = sortClasses(p.classes)
	}
}

// domainAssigner assigns pods to the domains of one key.
type domainAssigner struct {
	*problem
	key     int32
	domains *topologyDomains
	hosts   []host
	counts  *domainCounts
	load    []float64
	demands []classDemand
	// free is by host the capacity that is left.
	free []vec.Vector
	// restricted caches the choices that restrictOffers returns.
	restricted map[offerRestriction]int32
}

// domainOrder is the criterion for choosing among the domains that the rules allow.
type domainOrder uint8

const (
	// spreadFirst prefers the domain with the lowest spread counts, then the price.
	spreadFirst domainOrder = iota
	// existingFirst prefers room on existing nodes, then the same as spreadFirst.
	existingFirst
	// cheapestFirst prefers the lowest price, then the lowest spread counts.
	cheapestFirst
)

// classDemand is a class whose pods are being assigned to domains.
type classDemand struct {
	class int32
	// rules are the class's rules on this key, groups the groups that count it.
	rules  []constraint.Rule
	groups []int32
	// certain says by groups whether the pod is counted wherever it is placed.
	certain  []bool
	feasible []bool
	price    []float64
	// nextHost is, by domain, the index of the first host that may have room.
	nextHost    []int32
	unassigned  int32
	assigned    []int32
	hasAffinity bool
	// uncounted is set when no group counts the class. Its pods are not assigned one
	// by one; the class is restricted to domains instead.
	uncounted bool
}

func (h *domainAssigner) run() {
	for c := range h.classes {
		h.addDemand(int32(c))
	}
	slices.SortStableFunc(h.demands, func(a, b classDemand) int {
		if a.hasAffinity != b.hasAffinity {
			if b.hasAffinity {
				return -1
			}
			return 1
		}
		if o := cmp.Compare(h.classes[b.class].priority, h.classes[a.class].priority); o != 0 {
			return o
		}
		return cmp.Compare(countTrue(a.feasible), countTrue(b.feasible))
	})
	for h.assignRound() || h.seedAffinity() {
	}
	h.splitClasses()
}

func countTrue(list []bool) int {
	n := 0
	for _, ok := range list {
		if ok {
			n++
		}
	}
	return n
}

// addDemand adds a demand for a class with rules or groups on the key.
func (h *domainAssigner) addDemand(c int32) {
	cl := &h.classes[c]
	if cl.terms == nil || len(cl.reasons) > 0 {
		return
	}
	x := classDemand{class: c, uncounted: true, unassigned: cl.n()}
	for _, r := range cl.terms.DomainRules {
		if h.topology.All[r.Group].Key == h.domains.key {
			x.rules = append(x.rules, r)
			x.hasAffinity = x.hasAffinity || r.Kind == constraint.Affinity
			x.uncounted = x.uncounted && r.Kind != constraint.AntiAffinity && r.Kind != constraint.Affinity
		}
	}
	for _, g := range cl.terms.DomainGroups {
		if h.topology.All[g].Key == h.domains.key {
			x.groups = append(x.groups, g)
			x.certain = append(x.certain, h.countedEverywhere(cl, g))
			x.uncounted = false
		}
	}
	if len(x.rules)+len(x.groups) == 0 {
		return
	}
	x.assigned, x.nextHost = make([]int32, len(h.domains.values)), make([]int32, len(h.domains.values))
	x.price = h.unitPricesFor(h.domains, cl.offers)
	x.feasible = make([]bool, len(h.domains.values))
	for v := range x.feasible {
		x.feasible[v] = h.fitsInDomain(cl, int32(v))
	}
	h.demands = append(h.demands, x)
}

// countedEverywhere reports whether the group counts pods of the class wherever they
// may be placed.
func (h *domainAssigner) countedEverywhere(cl *class, g int32) bool {
	c := &h.topology.All[g]
	if c.Filter == nil {
		return true
	}
	for _, r := range cl.terms.DomainRules {
		if r.Group == g {
			return true // the group has the class's own filter
		}
	}
	if !h.counts.filterOffers[g].Contains(h.choices.sets[cl.offers]) {
		return false
	}
	for i := range h.hosts {
		if h.hosts[i].admits(cl) && !c.CountsNode(h.hosts[i].labels, h.hosts[i].taints) {
			return false
		}
	}
	return true
}

// fitsInDomain reports whether an offer or a host in the domain can hold a pod of
// the class.
func (h *domainAssigner) fitsInDomain(cl *class, v int32) bool {
	set, in := h.choices.sets[cl.offers], h.domains.offers[v]
	for o := set.Next(0); o >= 0; o = set.Next(o + 1) {
		if in.Has(o) && vec.Fits(&cl.req, &h.supply.Shapes[h.supply.Offers[o].Shape].Capacity, h.supply.Dims.N()) {
			return true
		}
	}
	for i := range h.hosts {
		x := &h.hosts[i]
		if x.domains[h.key] == v && vec.Fits(&cl.req, &x.free, h.supply.Dims.N()) && x.within(cl.restrictions) && x.admits(cl) {
			return true
		}
	}
	return false
}
