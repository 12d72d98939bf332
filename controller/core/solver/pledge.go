package solver

import "slices"

// allows says whether the constraints between pods, but for those on single
// nodes, let one more pod of the class go there.
func (t *turns) allows(cl *class, x *spot) bool {
	if cl.ties == nil {
		return true
	}
	for i := range cl.ties.own {
		r := &cl.ties.own[i]
		v, more := x.at[t.keys[r.census]], int32(0)
		if v < 0 {
			if r.kind == apart {
				continue
			}
			return false
		}
		if x.counts[r.census] && slices.Contains(cl.ties.counted, r.census) {
			more = 1
		}
		if !t.l.keeps(r, v, more) && (r.kind != near || more == 0 || t.l.elsewhere(r, -1)) {
			return false
		}
	}
	for _, g := range cl.ties.counted {
		if v := x.at[t.keys[g]]; v >= 0 && x.counts[g] && (t.l.hi[g][v] >= t.l.most[g][v] || t.fails(g, v)) {
			return false
		}
	}
	return true
}

// fails says whether one more pod that the census counts in domain v would break
// what others rely on: a spread, or that nobody whom they want near is elsewhere.
func (t *turns) fails(g, v int32) bool {
	for i := range t.pledges[g] {
		p := &t.pledges[g][i]
		switch p.kind {
		case spreads:
			if !t.plainly && p.at[v] && !t.l.keeps(&p.rule, v, 1) {
				return true
			}
		case near:
			for w, there := range p.at {
				if there && int32(w) != v && t.l.lo[g][w] == t.l.following[g][w] {
					return true
				}
			}
		case apart, evenly:
		}
	}
	return false
}

// kept says whether the spreads of all pods with a place hold in the end.
func (t *turns) kept() bool {
	for _, list := range t.pledges {
		for i := range list {
			for v, there := range list[i].at {
				if r := &list[i].rule; there && r.kind == spreads && !t.l.keeps(r, int32(v), 0) {
					return false
				}
			}
		}
	}
	return true
}

// rely notes that a pod with the rule is in domain v.
func (t *turns) rely(r *rule, v int32) {
	list := t.pledges[r.census]
	i := slices.IndexFunc(list, func(p pledge) bool { return p.rule == *r })
	if i < 0 {
		i = len(list)
		list = append(list, pledge{*r, make([]bool, len(t.l.hi[r.census]))})
		t.pledges[r.census] = list
	}
	list[i].at[v] = true
}

// count adds a pod of the class to the counts of a place.
func (t *turns) count(cl *class, x *spot) {
	if cl.ties == nil {
		return
	}
	for _, g := range cl.ties.counted {
		if v := x.at[t.keys[g]]; v >= 0 && x.counts[g] {
			t.l.lo[g][v]++
			t.l.hi[g][v]++
		}
	}
	for i := range cl.ties.own {
		r := &cl.ties.own[i]
		v := x.at[t.keys[r.census]]
		if v < 0 {
			continue
		}
		t.rely(r, v)
		switch {
		case r.kind == apart:
			t.l.most[r.census][v] = min(t.l.most[r.census][v], r.max)
		case r.kind == near && slices.Contains(cl.ties.counted, r.census):
			t.l.following[r.census][v]++
		}
	}
}
