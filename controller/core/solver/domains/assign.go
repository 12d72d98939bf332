package domains

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// Order is the criterion for choosing among the domains that the rules allow.
type Order uint8

const (
	// SpreadFirst prefers the domain with the lowest spread counts, then the price.
	SpreadFirst Order = iota
	// ExistingFirst prefers room on existing nodes, then the same as SpreadFirst.
	ExistingFirst
	// CheapestFirst prefers the lowest price, then the lowest spread counts.
	CheapestFirst
)

// Assignment says which domains the pods of each class may use, and counts them
// there.
type Assignment struct {
	space *Space
	// Counts is nil when no topology constraint uses a key besides the hostname.
	Counts  *Counts
	classes []classDomains // by class; nil without counts
}

// classDomains are the domains of a class.
type classDomains struct {
	restrictions []restriction
	used         []usedDomain
}

// usedDomain is a domain that a class was restricted to, with the demand that counts
// it there. A class that is not counted has one for each domain that it may use.
type usedDomain struct {
	demand *demand
	domain int32
}

// Assign decides before packing which domains pods go to, for every key that
// topology constraints use except the hostname. It returns the classes, split so that
// each goes to one domain, and their domains. Pods that a topology group counts are
// assigned one by one, so that the counts are known. Pods that only have rules and
// are not counted may then use every domain that satisfies their rules. launchable returns
// the offers that a node may be launched as.
func Assign(p *problem.Problem, hosts []problem.Host, launchable func() vec.Bits, by Order) ([]problem.Class, *Assignment) {
	a := &Assignment{space: NewSpace(p, hosts)}
	if len(a.space.Keys) == 0 {
		return p.Classes, a
	}
	a.Counts = NewCounts(a.space, launchable())
	classes, of := p.Classes, make([]classDomains, len(p.Classes))
	for k := range a.space.Keys {
		h := assigner{space: a.space, counts: a.Counts, order: by, key: int32(k), domains: &a.space.Keys[k], classes: classes, of: of}
		h.load, h.free = make([]float64, len(h.domains.Values)), make([]vec.Vector, len(hosts))
		for i := range hosts {
			h.free[i] = hosts[i].Free
		}
		classes, of = h.run()
	}
	order := problem.ClassOrder(classes)
	a.classes = vec.Pick(of, order)
	return vec.Pick(classes, order), a
}

// Admits reports whether a class may use the domains of a host.
func (a *Assignment) Admits(c int32, host int) bool {
	return a.classes == nil || a.space.within(host, a.classes[c].restrictions)
}

// Remove subtracts n pods of a class from the counts of its domain.
func (a *Assignment) Remove(c, n int32) {
	used := a.classes[c].used
	for i := range used {
		if s := &used[i]; n > 0 && !s.demand.uncounted {
			a.Counts.add(s.demand, s.domain, -n)
		}
	}
}

// Excess returns how many of the placed pods of a class must be removed because a
// rule does not hold in their domain, and why.
func (a *Assignment) Excess(c, placed int32) (int32, model.Reason) {
	if placed == 0 {
		return 0, model.Reason{}
	}
	used := a.classes[c].used
	for i := range used {
		s := &used[i]
		for j := range s.demand.rules {
			r := &s.demand.rules[j]
			if a.Counts.Satisfies(r, s.domain, 0) && !a.Counts.unsupportedAffinity(r, s.domain) {
				continue
			}
			n := placed
			if r.Kind == constraint.HardSpread && slices.Contains(s.demand.groups, r.Group) {
				n = min(placed, a.Counts.Possible[r.Group][s.domain]-a.Counts.minimum(r)-r.Max)
			}
			return n, model.Reason{
				Code:    r.Code(),
				Message: "what its topology constraint on " + a.space.p.Topology.All[r.Group].Key + " counts has no place itself",
			}
		}
	}
	return 0, model.Reason{}
}

// assigner assigns pods to the domains of one key.
type assigner struct {
	space  *Space
	counts *Counts
	order  Order
	// domains are those of the key, which has this index.
	key     int32
	domains *Key
	// classes have the domains of the keys before in of.
	classes []problem.Class
	of      []classDomains
	// load is by domain the size of the pods assigned to it.
	load    []float64
	demands []demand
	// free is by host the capacity that is left.
	free []vec.Vector
	// restricted caches the choices that restrictOffers returns.
	restricted map[offerRestriction]int32
}

// run returns the classes split by domain, in any order, and their domains.
func (h *assigner) run() ([]problem.Class, []classDomains) {
	for c := range h.classes {
		cl := &h.classes[c]
		if cl.Terms == nil || len(cl.Reasons) > 0 {
			continue
		}
		if x, ok := newDemand(h.space, h.counts, h.key, int32(c), cl, h.of[c].restrictions); ok {
			h.demands = append(h.demands, x)
		}
	}
	slices.SortStableFunc(h.demands, func(a, b demand) int {
		if a.hasAffinity != b.hasAffinity {
			if b.hasAffinity {
				return -1
			}
			return 1
		}
		if o := cmp.Compare(h.classes[b.class].Priority, h.classes[a.class].Priority); o != 0 {
			return o
		}
		return cmp.Compare(a.feasibleDomains(), b.feasibleDomains())
	})
	for h.assignRound() || h.seedAffinity() {
	}
	return h.splitClasses()
}
