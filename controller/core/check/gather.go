package check

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// gather proves pod affinity by binding pods as the scheduler would: whoever
// finds a match in the domain is bound, and the first of a self-affine kind
// may begin where no match exists anywhere. Pods that are never bound are
// placed wrongly; so are those that only a lucky order binds.
func (c *crowd) gather() {
	var free, waiting []int
	circles := map[int32]*circle{}
	for i := range c.groups {
		g := &c.groups[i]
		if !g.placed || len(c.v.s.Specs[g.spec].PodAffinity) == 0 {
			free = append(free, i)
			continue
		}
		waiting = append(waiting, i)
		if circles[g.spec] == nil {
			circles[g.spec] = c.circle(&c.v.s.Specs[g.spec])
		}
	}
	bind := func(i int) {
		for _, each := range circles {
			each.bind(c, &c.groups[i])
		}
	}
	for _, i := range free {
		bind(i)
	}
	for len(waiting) > 0 {
		before := len(waiting)
		waiting = slices.DeleteFunc(waiting, func(i int) bool {
			joins := circles[c.groups[i].spec].joins(c, &c.groups[i])
			if joins {
				bind(i)
			}
			return joins
		})
		if len(waiting) < before {
			continue
		}
		first := slices.IndexFunc(waiting, func(i int) bool { return circles[c.groups[i].spec].begins(c, &c.groups[i]) })
		if first < 0 {
			break
		}
		bind(waiting[first])
		waiting = slices.Delete(waiting, first, first+1)
	}
	for _, i := range waiting {
		g := &c.groups[i]
		c.v.report(Affinity, c.name(g.place), "a pod of namespace %s finds no pod there that its affinity asks for", c.v.s.Specs[g.spec].Namespace)
	}
}

// circle is what pods of one spec find for their affinity.
type circle struct {
	spec *model.PodSpec
	// friends are the specs that match all terms: a pod that matches only some
	// counts for none.
	friends map[int32]bool
	// near are, by term, the domains that have a bound friend for sure, here
	// the places that have one.
	near []map[string]bool
	here map[int32]bool
	// met says that a friend is bound in some domain of some term.
	met bool
}

func (c *crowd) circle(s *model.PodSpec) *circle {
	out := &circle{spec: s, friends: map[int32]bool{}, here: map[int32]bool{}}
	for spec := range c.bySpec {
		out.friends[spec] = befriends(s, &c.v.s.Specs[spec])
	}
	for range s.PodAffinity {
		out.near = append(out.near, map[string]bool{})
	}
	return out
}

func befriends(s, other *model.PodSpec) bool {
	for i := range s.PodAffinity {
		if !picks(&s.PodAffinity[i].Selector, other) {
			return false
		}
	}
	return true
}

// bind notes that the group's pods run.
func (r *circle) bind(c *crowd, g *group) {
	if !r.friends[g.spec] {
		return
	}
	r.here[g.place] = true
	for i := range r.spec.PodAffinity {
		theirs := c.domains(g.place, r.spec.PodAffinity[i].Key)
		r.met = r.met || len(theirs) > 0
		if len(theirs) == 1 {
			r.near[i][theirs[0]] = true
		}
	}
}

// joins says whether a bound friend shares the domain of every term, wherever
// planned nodes come up.
func (r *circle) joins(c *crowd, g *group) bool {
	for i := range r.spec.PodAffinity {
		mine := c.domains(g.place, r.spec.PodAffinity[i].Key)
		if len(mine) == 0 || !r.here[g.place] && (len(mine) > 1 || !r.near[i][mine[0]]) {
			return false
		}
	}
	return true
}

// begins says whether the pod may be the first of its kind: it matches its own
// terms, its node has their labels, and no friend is bound anywhere.
func (r *circle) begins(c *crowd, g *group) bool {
	if r.met || !befriends(r.spec, r.spec) {
		return false
	}
	return !slices.ContainsFunc(r.spec.PodAffinity, func(t model.PodTerm) bool { return len(c.domains(g.place, t.Key)) == 0 })
}
