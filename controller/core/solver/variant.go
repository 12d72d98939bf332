package solver

import (
	"maps"
	"slices"
	"strconv"

	"spokeshave.dev/controller/core/model"
)

// Bounds on the ways to label the nodes of one pool.
const (
	maxValues   = 16
	maxVariants = 32
)

// anyValue is given to a label that a pool wants and nobody cares for.
const anyValue = "any"

// variants are the ways to fill in the labels that a pool's requirements
// define but leave open: a pool that requires team In [red, blue] launches red
// nodes and blue ones, as the pods ask. Keys that no pod mentions get one value.
func (p *problem) variants(q *model.Pool) []map[string]string {
	out := []map[string]string{{}}
	done := map[string]bool{}
	for i := range q.Requirements {
		key := q.Requirements[i].Key
		if done[key] || !p.defines(q, key) {
			continue
		}
		done[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(done)) {
		var next []map[string]string
		for _, labels := range out {
			for _, v := range p.values(q, key) {
				if len(next) == maxVariants {
					break
				}
				more := maps.Clone(labels)
				if v != "" {
					more[key] = v
				}
				next = append(next, more)
			}
		}
		out = next
	}
	return out
}

// values are what the pool's nodes may carry for a key of its own, "" for
// nothing. A value that nobody may carry leaves nothing to launch.
func (p *problem) values(q *model.Pool, key string) []string {
	var listed, derived []string
	absent, closed := true, false
	for i := range q.Requirements {
		r := &q.Requirements[i]
		if r.Key != key {
			continue
		}
		absent = absent && r.Matches("", false)
		switch r.Operator {
		case model.In:
			closed = true
			listed = append(listed, r.Values...)
		case model.Gt, model.Lt, model.Gte, model.Lte:
			derived = append(derived, neighbours(r.Values)...)
		case model.NotIn, model.Exists, model.DoesNotExist:
		}
	}
	named, mentioned := p.mentionedValues()[key]
	if !closed {
		listed = slices.Concat(named, derived, []string{anyValue})
	}
	slices.Sort(listed)
	listed = slices.DeleteFunc(slices.Compact(listed), func(v string) bool { return !allow(q.Requirements, key, v) })
	switch {
	case absent && !mentioned:
		return []string{""}
	case absent:
		listed = append([]string{""}, listed...) // first, so that nobody gets a label for nothing
	}
	if !mentioned {
		return listed[:min(1, len(listed))]
	}
	return fewer(listed, named)
}

// fewer keeps the values that pods name, and one that they do not.
func fewer(values, named []string) []string {
	if len(values) <= maxValues {
		return values
	}
	other := false
	return slices.DeleteFunc(values, func(v string) bool {
		if slices.Contains(named, v) {
			return false
		}
		first := !other
		other = true
		return !first
	})
}

// neighbours are the whole numbers next to a bound, and the bound.
func neighbours(bound []string) []string {
	if len(bound) != 1 {
		return nil
	}
	n, err := strconv.ParseInt(bound[0], 10, 64)
	if err != nil {
		return nil
	}
	return []string{strconv.FormatInt(n-1, 10), bound[0], strconv.FormatInt(n+1, 10)}
}

// mentionedValues lists, by label key, the values that pending pods name in selectors
// and affinity, sorted. Keys of topology constraints are mentioned too; keys mentioned without a value have an empty list.
func (p *problem) mentionedValues() map[string][]string {
	if p.mentioned != nil {
		return p.mentioned
	}
	p.mentioned = map[string][]string{}
	done := make([]bool, len(p.snap.Specs))
	for _, i := range p.in.Pods {
		at := p.snap.Pods[i].Spec
		if done[at] {
			continue
		}
		done[at] = true
		s := &p.snap.Specs[at]
		for k, v := range s.NodeSelector {
			p.mention(k, v)
		}
		for _, term := range s.Affinity {
			for j := range term {
				p.mention(term[j].Key, term[j].Values...)
			}
		}
		p.mentionTopology(s)
	}
	for k := range p.mentioned {
		slices.Sort(p.mentioned[k])
	}
	return p.mentioned
}

// mentionTopology notes the keys whose values are domains of the pod's
// topology constraints.
func (p *problem) mentionTopology(s *model.PodSpec) {
	for j := range s.Spread {
		p.mention(s.Spread[j].Key)
	}
	for _, list := range [][]model.WeightedPodTerm{s.PreferredPods, s.PreferredApart} {
		for j := range list {
			p.mention(list[j].Term.Key)
		}
	}
	for _, list := range [][]model.PodTerm{s.PodAffinity, s.PodAntiAffinity} {
		for j := range list {
			p.mention(list[j].Key)
		}
	}
}

func (p *problem) mention(key string, values ...string) {
	list, ok := p.mentioned[key]
	for _, v := range values {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	if !ok || len(list) > 0 {
		p.mentioned[key] = list
	}
}
