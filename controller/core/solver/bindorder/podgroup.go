package bindorder

import (
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// podGroup is the pods of one spec at one place, which are bound together.
type podGroup struct {
	spec  int32
	place int
	// pods are those that the plan places; none of those that run already.
	pods []int32
	// query is what their affinity looks for, nil for pods that run or have no
	// affinity; matchesSelf says that their own labels match it.
	query       *query
	matchesSelf bool
}

// podGroups lists those that run, in the order of the snapshot's pods, and then
// those that the plan places.
func podGroups(p *Plan) []podGroup {
	s := p.Snapshot
	var out []podGroup
	type key struct {
		spec   int32
		place  int
		placed bool
	}
	index := map[key]int{}
	add := func(pod int32, place int, placed bool) {
		k := key{s.Pods[pod].Spec, place, placed}
		i, ok := index[k]
		if !ok {
			i = len(out)
			index[k] = i
			out = append(out, podGroup{spec: s.Pods[pod].Spec, place: place})
		}
		if placed {
			out[i].pods = append(out[i].pods, pod)
		}
	}
	moving := make([]bool, len(s.Pods))
	for _, i := range p.Pods {
		moving[i] = true
	}
	for i := range s.Pods {
		if at := int(s.Pods[i].Node); !moving[i] && at >= 0 && at < len(s.Nodes) {
			add(int32(i), at, false)
		}
	}
	for _, a := range p.Existing {
		for _, i := range a.Pods {
			add(i, int(a.Node), true)
		}
	}
	for n := range p.Nodes {
		for _, i := range p.Nodes[n].Pods {
			add(i, len(s.Nodes)+n, true)
		}
	}
	return out
}

// affinityMet says whether a matching pod is bound in the domain of every term,
// whichever of its options a new node becomes.
func (g *podGroup) affinityMet() bool {
	here := g.query.boundPlaces.Has(int32(g.place))
	for i, bound := range g.query.boundDomains {
		if d := g.query.domains[i][g.place]; d == Absent || !here && !bound[d] {
			return false
		}
	}
	return true
}

// mayBindFirst says whether the scheduler binds the first of the pods although no
// match runs: they match themselves, no match is bound in any domain, and the node
// has the labels of all terms.
func (g *podGroup) mayBindFirst() bool {
	return g.matchesSelf && !g.query.anyBound &&
		!slices.ContainsFunc(g.query.domains, func(of []Domain) bool { return of[g.place] == Absent })
}

// groupByLabels groups the specs of pod groups by namespace and labels: a selector
// matches all specs of a group or none.
func groupByLabels(specs []model.PodSpec, all []podGroup) (out [][]int32) {
	seen := make([]bool, len(specs))
	index := map[string]int{}
	var key []byte
	var names []string
	for i := range all {
		at := all[i].spec
		if seen[at] {
			continue
		}
		seen[at] = true
		key = append(append(key[:0], specs[at].Namespace...), 0)
		names = slices.AppendSeq(names[:0], maps.Keys(specs[at].Labels))
		slices.Sort(names)
		for _, name := range names {
			key = append(append(append(append(key, name...), 0), specs[at].Labels[name]...), 0)
		}
		k, ok := index[string(key)]
		if !ok {
			k = len(out)
			index[string(key)] = k
			out = append(out, nil)
		}
		out[k] = append(out[k], at)
	}
	return out
}
