package solver

import "slices"

// allows says whether the constraints between pods, but for those on single
// nodes, let one more pod of the class go there.
func (t *insertion) allows(cl *class, x *topologyPosition) bool {
	if cl.terms == nil {
		return true
	}
	for i := range cl.terms.domainRules {
		r := &cl.terms.domainRules[i]
		v, more := x.domain[t.groupKeys[r.group]], int32(0)
		if v < 0 {
			if r.kind == antiAffinity {
				continue
			}
			return false
		}
		if x.counted[r.group] && slices.Contains(cl.terms.domainGroups, r.group) {
			more = 1
		}
		if !t.counts.satisfies(r, v, more) && (r.kind != affinity || more == 0 || t.counts.countsElsewhere(r, -1)) {
			return false
		}
	}
	for _, g := range cl.terms.domainGroups {
		if v := x.domain[t.groupKeys[g]]; v >= 0 && x.counted[g] && (t.counts.possible[g][v] >= t.counts.limit[g][v] || t.violatesActive(g, v)) {
			return false
		}
	}
	return true
}

// violatesActive says whether one more pod that the topology group counts in domain v would break
// what others rely on: a spread, or that nobody whom they want near is elsewhere.
func (t *insertion) violatesActive(g, v int32) bool {
	for i := range t.constraints[g] {
		p := &t.constraints[g][i]
		switch p.kind {
		case hardSpread:
			if !t.fixedZone && p.domains[v] && !t.counts.satisfies(&p.rule, v, 1) {
				return true
			}
		case affinity:
			for w, there := range p.domains {
				if there && int32(w) != v && t.counts.certain[g][w] == t.counts.dependents[g][w] {
					return true
				}
			}
		case antiAffinity, softSpread:
		}
	}
	return false
}

// spreadsHold says whether the spreads of all pods with a place hold in the end.
func (t *insertion) spreadsHold() bool {
	for _, list := range t.constraints {
		for i := range list {
			for v, there := range list[i].domains {
				if r := &list[i].rule; there && r.kind == hardSpread && !t.counts.satisfies(r, int32(v), 0) {
					return false
				}
			}
		}
	}
	return true
}

// activate notes that a pod with the rule is in domain v.
func (t *insertion) activate(r *rule, v int32) {
	list := t.constraints[r.group]
	i := slices.IndexFunc(list, func(p activeConstraint) bool { return p.rule == *r })
	if i < 0 {
		i = len(list)
		list = append(list, activeConstraint{*r, make([]bool, len(t.counts.possible[r.group]))})
		t.constraints[r.group] = list
	}
	list[i].domains[v] = true
}

// addCounts adds a pod of the class to the counts of a place.
func (t *insertion) addCounts(cl *class, x *topologyPosition) {
	if cl.terms == nil {
		return
	}
	for _, g := range cl.terms.domainGroups {
		if v := x.domain[t.groupKeys[g]]; v >= 0 && x.counted[g] {
			t.counts.certain[g][v]++
			t.counts.possible[g][v]++
		}
	}
	for i := range cl.terms.domainRules {
		r := &cl.terms.domainRules[i]
		v := x.domain[t.groupKeys[r.group]]
		if v < 0 {
			continue
		}
		t.activate(r, v)
		switch {
		case r.kind == antiAffinity:
			t.counts.limit[r.group][v] = min(t.counts.limit[r.group][v], r.max)
		case r.kind == affinity && slices.Contains(cl.terms.domainGroups, r.group):
			t.counts.dependents[r.group][v]++
		}
	}
}
