package bindorder

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Plan is a plan with what it was made from.
type Plan struct {
	Snapshot *model.Snapshot
	// Pods index Snapshot.Pods: the pods that were to be placed, whether they are
	// or not. All other pods with a node run there.
	Pods []int32
	*model.Plan
	// Label is the value of a label at a place: the index of a node in the
	// snapshot or, from len(Snapshot.Nodes) on, of one of the plan's new nodes.
	Label func(place int, key string) Domain
}

// Domain is the value of a label at a place, as far as it is known.
type Domain string

// Domains that are not values.
const (
	// Absent: the node has no such label.
	Absent Domain = ""
	// Ambiguous: a new node may be launched with one value or another.
	Ambiguous Domain = "?"
	// valuePrefix begins all others.
	valuePrefix = "="
)

// Value is the domain of a label value.
func Value(v string) Domain { return Domain(valuePrefix + v) }

// Unbindable are the pods with a place that would never be bound there; none when
// no pod to place has pod affinity.
func Unbindable(p Plan) []int32 {
	specs := p.Snapshot.Specs
	if !slices.ContainsFunc(p.Pods, func(i int32) bool { return len(specs[p.Snapshot.Pods[i].Spec].PodAffinity) > 0 }) {
		return nil
	}
	all := podGroups(&p)
	q := newQueries(&p, all)
	var free, waiting []podGroup
	for i := range all {
		if g := &all[i]; len(g.pods) > 0 && len(specs[g.spec].PodAffinity) > 0 {
			g.query = q.of(g.spec)
			g.matchesSelf = slices.Contains(q.matching[g.spec], g.query)
			waiting = append(waiting, *g)
		} else {
			free = append(free, *g)
		}
	}
	s := simulation{queries: q}
	for i := range free {
		s.bind(&free[i])
	}
	for waiting = s.bindMatched(waiting); len(waiting) > 0; waiting = s.bindMatched(waiting) {
		first := slices.IndexFunc(waiting, func(g podGroup) bool { return g.mayBindFirst() })
		if first < 0 {
			break
		}
		s.bind(&waiting[first])
		waiting = slices.Delete(waiting, first, first+1)
	}
	var out []int32
	for i := range waiting {
		out = append(out, waiting[i].pods...)
	}
	return out
}

// simulation binds pod groups in rounds.
type simulation struct {
	*queries
	round int
}

// bind notes that the group's pods run.
func (s *simulation) bind(g *podGroup) {
	for _, q := range s.matching[g.spec] {
		if q.boundPlaces.Has(int32(g.place)) {
			continue
		}
		q.boundPlaces.Set(int32(g.place))
		q.changedIn = s.round
		for i := range q.boundDomains {
			d := q.domains[i][g.place]
			q.anyBound = q.anyBound || d != Absent
			if d != Absent && d != Ambiguous {
				q.boundDomains[i][d] = true
			}
		}
	}
}

// bindMatched binds every group that finds a match, round by round until none does,
// and returns the others. Groups whose query has not changed since the last round
// are passed over.
func (s *simulation) bindMatched(waiting []podGroup) []podGroup {
	for before := len(waiting) + 1; len(waiting) < before; {
		before = len(waiting)
		s.round++
		waiting = slices.DeleteFunc(waiting, func(g podGroup) bool {
			bound := g.query.changedIn >= s.round-1 && g.affinityMet()
			if bound {
				s.bind(&g)
			}
			return bound
		})
	}
	return waiting
}
