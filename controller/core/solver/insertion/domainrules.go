package insertion

import (
	"slices"

	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// domainRules holds the constraints between pods, except those on single nodes, while
// pods are placed one by one.
type domainRules struct {
	counts *domains.Counts
	// groupKeys is by topology group the index of its key, -1 for the hostname.
	groupKeys []int32
	// active are, by topology group, the constraints of placed pods.
	active [][]activeConstraint
	// changes counts by topology group how often a pod was placed that the group counts,
	// or that has a rule about it.
	changes []uint64
	// deferredSpread lets pods violate the spread of earlier pods for a time.
	deferredSpread bool
}

// activeConstraint is a constraint of placed pods, with the domains where they are.
type activeConstraint struct {
	constraint.Rule
	domains []bool
}

// newDomainRules counts the pods that stay where they are. launchable are the offers that a
// node may be launched as.
func newDomainRules(s *domains.Space, launchable vec.Bits, groups int, deferredSpread bool) *domainRules {
	t := &domainRules{counts: domains.NewCounts(s, launchable), active: make([][]activeConstraint, groups), changes: make([]uint64, groups), deferredSpread: deferredSpread}
	for g := range int32(groups) {
		t.groupKeys = append(t.groupKeys, s.KeyOf(g))
	}
	return t
}

// reset forgets the placed pods. counts are those of the pods that stay where they are.
func (t *domainRules) reset(counts *domains.Counts) {
	t.counts.Reset(counts)
	for g := range t.active {
		t.active[g] = nil
		t.changes[g]++
	}
}

// allows reports whether the constraints between pods, except those on single nodes,
// admit one more pod of the class at the position.
func (t *domainRules) allows(cl *problem.Class, x *topologyPosition) bool {
	if cl.Terms == nil {
		return true
	}
	for i := range cl.Terms.DomainRules {
		r := &cl.Terms.DomainRules[i]
		v, more := x.domain[t.groupKeys[r.Group]], int32(0)
		if v < 0 {
			if r.Kind == constraint.AntiAffinity {
				continue
			}
			return false
		}
		if x.counted[r.Group] && slices.Contains(cl.Terms.DomainGroups, r.Group) {
			more = 1
		}
		if !t.counts.Satisfies(r, v, more) && (r.Kind != constraint.Affinity || more == 0 || t.counts.CountsElsewhere(r, -1)) {
			return false
		}
	}
	for _, g := range cl.Terms.DomainGroups {
		if v := x.domain[t.groupKeys[g]]; v >= 0 && x.counted[g] && (t.counts.Possible[g][v] >= t.counts.Limit[g][v] || t.violatesActive(g, v)) {
			return false
		}
	}
	return true
}

// stamp returns a number that changes whenever allows may answer otherwise for the class:
// counts of changes only grow, and so does their sum.
func (t *domainRules) stamp(cl *problem.Class) uint64 {
	sum := uint64(0)
	for i := range cl.Terms.DomainRules {
		sum += t.changes[cl.Terms.DomainRules[i].Group]
	}
	for _, g := range cl.Terms.DomainGroups {
		sum += t.changes[g]
	}
	return sum
}

// violatesActive reports whether one more pod that topology group g counts in domain
// v would violate a constraint of a placed pod: a spread, or an affinity that only
// pods with the same affinity satisfy, which must not be split over two domains.
func (t *domainRules) violatesActive(g, v int32) bool {
	for i := range t.active[g] {
		p := &t.active[g][i]
		switch p.Kind {
		case constraint.HardSpread:
			if !t.deferredSpread && p.domains[v] && !t.counts.Satisfies(&p.Rule, v, 1) {
				return true
			}
		case constraint.Affinity:
			for w, there := range p.domains {
				if there && int32(w) != v && t.counts.Certain[g][w] == t.counts.Dependents[g][w] {
					return true
				}
			}
		case constraint.AntiAffinity, constraint.SoftSpread:
		}
	}
	return false
}

// spreadsHold reports whether the hard spreads of all placed pods hold.
func (t *domainRules) spreadsHold() bool {
	for _, list := range t.active {
		for i := range list {
			for v, there := range list[i].domains {
				if r := &list[i].Rule; there && r.Kind == constraint.HardSpread && !t.counts.Satisfies(r, int32(v), 0) {
					return false
				}
			}
		}
	}
	return true
}

// activate records that a pod with the rule is in domain v.
func (t *domainRules) activate(r *constraint.Rule, v int32) {
	list := t.active[r.Group]
	i := slices.IndexFunc(list, func(p activeConstraint) bool { return p.Rule == *r })
	if i < 0 {
		i = len(list)
		list = append(list, activeConstraint{*r, make([]bool, len(t.counts.Possible[r.Group]))})
		t.active[r.Group] = list
	}
	list[i].domains[v] = true
}

// addCounts adds a pod of the class to the domain counts of a position.
func (t *domainRules) addCounts(cl *problem.Class, x *topologyPosition) {
	if cl.Terms == nil {
		return
	}
	for _, g := range cl.Terms.DomainGroups {
		if v := x.domain[t.groupKeys[g]]; v >= 0 && x.counted[g] {
			t.changes[g]++
			t.counts.Certain[g][v]++
			t.counts.Possible[g][v]++
		}
	}
	for i := range cl.Terms.DomainRules {
		r := &cl.Terms.DomainRules[i]
		v := x.domain[t.groupKeys[r.Group]]
		if v < 0 {
			continue
		}
		t.activate(r, v)
		t.changes[r.Group]++
		switch {
		case r.Kind == constraint.AntiAffinity:
			t.counts.Limit[r.Group][v] = min(t.counts.Limit[r.Group][v], r.Max)
		case r.Kind == constraint.Affinity && slices.Contains(cl.Terms.DomainGroups, r.Group):
			t.counts.Dependents[r.Group][v]++
		}
	}
}
