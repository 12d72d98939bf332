package domains

import (
	"fmt"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// demand is a class whose pods are to be assigned to domains of one key.
type demand struct {
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

// newDemand returns the demand of class c, which already has the restrictions.
// It returns false when no rule of the class is on the key, and no group of the key
// counts its pods. counts may be nil when the demand is not added to any.
func newDemand(s *Space, counts *Counts, key, c int32, cl *problem.Class, already []restriction) (demand, bool) {
	d := &s.Keys[key]
	x := demand{class: c, uncounted: true, unassigned: cl.N()}
	for _, r := range cl.Terms.DomainRules {
		if s.p.Topology.All[r.Group].Key == d.Label {
			x.rules = append(x.rules, r)
			x.hasAffinity = x.hasAffinity || r.Kind == constraint.Affinity
			x.uncounted = x.uncounted && r.Kind != constraint.AntiAffinity && r.Kind != constraint.Affinity
		}
	}
	for _, g := range cl.Terms.DomainGroups {
		if s.p.Topology.All[g].Key == d.Label {
			x.groups = append(x.groups, g)
			if counts != nil {
				x.certain = append(x.certain, counts.countsEverywhere(s, cl, g))
			}
			x.uncounted = false
		}
	}
	if len(x.rules)+len(x.groups) == 0 {
		return x, false
	}
	x.assigned, x.nextHost = make([]int32, len(d.Values)), make([]int32, len(d.Values))
	x.price = s.unitPrices(key, cl.Choice)
	x.feasible = make([]bool, len(d.Values))
	var launchable vec.Bits
	if counts != nil {
		launchable = counts.launchable
	}
	for v := range x.feasible {
		x.feasible[v] = s.Fits(cl, already, key, int32(v), launchable)
	}
	return x, true
}

// countsEverywhere reports whether the group counts pods of the class wherever they
// may be placed.
func (l *Counts) countsEverywhere(s *Space, cl *problem.Class, g int32) bool {
	c := &s.p.Topology.All[g]
	if c.Filter == nil {
		return true
	}
	for _, r := range cl.Terms.DomainRules {
		if r.Group == g {
			return true // the group has the class's own filter
		}
	}
	if !l.FilterOffers[g].Contains(s.p.Choices.All[cl.Choice]) {
		return false
	}
	for i := range s.hosts {
		if !s.p.Counts(g, &s.hosts[i]) && s.hosts[i].Admits(cl) {
			return false
		}
	}
	return true
}

// feasibleDomains returns the number of domains that can hold a pod.
func (x *demand) feasibleDomains() int {
	n := 0
	for _, ok := range x.feasible {
		if ok {
			n++
		}
	}
	return n
}

// multiplicity returns how often the group counts one pod, or one group of a bundle.
func (x *demand) multiplicity(group int32) int32 {
	at, ok := slices.BinarySearch(x.groups, group)
	if !ok {
		return 0
	}
	return constraint.LeadingRepeats(x.groups[at:])
}

// sharesAffinity reports whether both demands have an affinity rule in common.
func (x *demand) sharesAffinity(y *demand) bool {
	for _, r := range x.rules {
		if r.Kind == constraint.Affinity && slices.Contains(y.rules, r) {
			return true
		}
	}
	return false
}

// add adds n pods of a demand to the counts of domain v.
func (l *Counts) add(x *demand, v, n int32) {
	for i, g := range x.groups {
		l.Possible[g][v] += n
		if x.certain[i] {
			l.Certain[g][v] += n
		}
	}
	for i := range x.rules {
		switch r := &x.rules[i]; r.Kind {
		case constraint.AntiAffinity:
			l.Limit[r.Group][v] = min(l.Limit[r.Group][v], r.Max)
		case constraint.Affinity:
			l.Dependents[r.Group][v] += n * x.multiplicity(r.Group)
		case constraint.HardSpread, constraint.SoftSpread:
		}
	}
}

// violatedRule returns a rule that excludes one more pod of the demand from the
// domain, nil for none.
func (l *Counts) violatedRule(x *demand, v int32) *constraint.Rule {
	for i := range x.rules {
		r := &x.rules[i]
		if !l.Satisfies(r, v, x.multiplicity(r.Group)) {
			return r
		}
	}
	for _, g := range x.groups {
		if l.Possible[g][v]+x.multiplicity(g) > l.Limit[g][v] {
			return &constraint.Rule{Kind: constraint.AntiAffinity, Group: g}
		}
	}
	return nil
}

// unassignedReason returns which rule excludes the remaining pods of a demand from
// the domains that could hold them.
func (l *Counts) unassignedReason(d *Key, x *demand) model.Reason {
	var code model.ReasonCode
	var parts []string
	for v, ok := range x.feasible {
		if !ok {
			continue
		}
		r := l.violatedRule(x, int32(v))
		if r == nil {
			continue
		}
		if code == "" {
			code = r.Code()
		}
		parts = append(parts, d.Values[v]+" "+l.ruleText(r, int32(v)))
	}
	if code == "" {
		return model.Reason{Code: model.TopologySpread, Message: "no domain of " + d.Label + " suits all of its topology constraints"}
	}
	return model.Reason{Code: code, Message: "no " + d.Label + " suits: " + strings.Join(parts, ", ")}
}

func (l *Counts) ruleText(r *constraint.Rule, v int32) string {
	switch r.Kind {
	case constraint.Affinity:
		return "has none of the pods it wants near"
	case constraint.AntiAffinity:
		return "has pods it must be kept apart from"
	case constraint.HardSpread, constraint.SoftSpread:
	}
	return fmt.Sprintf("has %d pods of its spread (maxSkew %d, least %d)", l.Possible[r.Group][v], r.Max, l.minimum(r))
}

// Reason returns why the pods of a class, which is not restricted to
// domains, have no domain of the first key of which none suits. nil means that no
// rule is the cause.
func Reason(s *Space, counts *Counts, c int32, cl *problem.Class) *model.Reason {
	if cl.Terms == nil {
		return nil
	}
	for k := range s.Keys {
		if x, ok := newDemand(s, nil, int32(k), c, cl, nil); ok && x.feasibleDomains() > 0 {
			why := counts.unassignedReason(&s.Keys[k], &x)
			return &why
		}
	}
	return nil
}
