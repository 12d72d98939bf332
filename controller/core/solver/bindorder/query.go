package bindorder

import (
	"reflect"
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/vec"
)

// query is what some affinity terms look for: pods that all of the terms match.
// Specs with equal terms share a query.
type query struct {
	terms []model.PodTerm
	// domains are by term and place.
	domains [][]Domain
	// boundDomains are, by term, the domains with a match that is bound for sure,
	// boundPlaces the places with one.
	boundDomains []map[Domain]bool
	boundPlaces  vec.Bits
	// anyBound says that a match is bound at a place with the label of a term.
	anyBound bool
	// changedIn is the last round in which boundPlaces grew, -1 for none.
	changedIn int
}

// queries are the queries of all specs that are asked for.
type queries struct {
	plan   *Plan
	places int
	bySpec map[int32]*query
	// byText holds the queries by the words of their terms, of which few are equal
	// without the terms being so.
	byText map[string][]*query
	// matching lists, by spec, the queries that match its pods.
	matching [][]*query
	// alike are the specs with pods, grouped by namespace and labels.
	alike [][]int32
	// domains are by label key and place.
	domains map[string][]Domain
}

func newQueries(p *Plan, all []podGroup) *queries {
	return &queries{
		plan: p, places: len(p.Snapshot.Nodes) + len(p.Nodes),
		bySpec: map[int32]*query{}, byText: map[string][]*query{}, domains: map[string][]Domain{},
		matching: make([][]*query, len(p.Snapshot.Specs)), alike: groupByLabels(p.Snapshot.Specs, all),
	}
}

// of is the query of a spec with affinity.
func (q *queries) of(spec int32) *query {
	if x := q.bySpec[spec]; x != nil {
		return x
	}
	terms := q.plan.Snapshot.Specs[spec].PodAffinity
	text := textOf(terms)
	same := q.byText[text]
	if i := slices.IndexFunc(same, func(x *query) bool { return reflect.DeepEqual(x.terms, terms) }); i >= 0 {
		q.bySpec[spec] = same[i]
		return same[i]
	}
	x := q.add(terms)
	q.bySpec[spec], q.byText[text] = x, append(same, x)
	return x
}

func textOf(terms []model.PodTerm) string {
	var words []string
	for i := range terms {
		words = append(words, terms[i].Key)
		for j := range terms[i].Selector.Labels {
			words = append(append(words, terms[i].Selector.Labels[j].Key), terms[i].Selector.Labels[j].Values...)
		}
	}
	return strings.Join(words, " ")
}

// add makes a query and files it under the specs that it matches.
func (q *queries) add(terms []model.PodTerm) *query {
	x := &query{terms: terms, boundPlaces: vec.NewBits(q.places), changedIn: -1}
	for i := range terms {
		x.boundDomains = append(x.boundDomains, map[Domain]bool{})
		x.domains = append(x.domains, q.domainsOf(terms[i].Key))
	}
	for _, same := range q.alike {
		spec := &q.plan.Snapshot.Specs[same[0]]
		if slices.ContainsFunc(terms, func(t model.PodTerm) bool { return !t.Selector.Matches(spec.Namespace, spec.Labels) }) {
			continue
		}
		for _, i := range same {
			q.matching[i] = append(q.matching[i], x)
		}
	}
	return x
}

// domainsOf are the domains of a label by place.
func (q *queries) domainsOf(key string) []Domain {
	out, ok := q.domains[key]
	if !ok {
		out = make([]Domain, q.places)
		for place := range out {
			out[place] = q.plan.Label(place, key)
		}
		q.domains[key] = out
	}
	return out
}
