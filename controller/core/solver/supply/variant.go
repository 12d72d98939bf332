package supply

import (
	"maps"
	"slices"
	"strconv"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// Bounds on the ways to label the nodes of one pool. Half and twice the values change no plan
// of the mixes that are measured (docs/measurements/solver.md).
const (
	maxValues   = 16
	maxVariants = 32
)

// anyValue is given to a label that a pool wants and nobody cares for.
const anyValue = "any"

// variants are the ways to fill in the labels that a pool's requirements
// define but leave open: a pool that requires team In [red, blue] launches red
// nodes and blue ones, as the pods ask. Keys that no pod mentions get one value.
func variants(p *Table, q *model.Pool) []map[string]string {
	out := []map[string]string{{}}
	done := map[string]bool{}
	for i := range q.Requirements {
		key := q.Requirements[i].Key
		if done[key] || !p.Defines(q, key) {
			continue
		}
		done[key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(done)) {
		var next []map[string]string
		for _, labels := range out {
			for _, v := range valuesFor(p, q, key) {
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

// valuesFor are what the pool's nodes may carry for a key of its own, "" for
// nothing. A value that nobody may carry leaves nothing to launch.
func valuesFor(p *Table, q *model.Pool, key string) []string {
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
	named, mentioned := p.mentioned[key]
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

// customKeys are the label keys that requirements of a pool name and that may be
// labels which the pool gives its nodes.
func customKeys(pools []model.Pool) map[string]bool {
	out := map[string]bool{}
	for i := range pools {
		for j := range pools[i].Requirements {
			if key := pools[i].Requirements[j].Key; !constraint.WellKnown(key) {
				out[key] = true
			}
		}
	}
	return out
}

// mentionSpec adds to mentioned, for the given label keys, the values in a spec's
// selector and affinity. Keys of its topology constraints are mentioned without a value.
func mentionSpec(mentioned map[string][]string, s *model.PodSpec, keys map[string]bool) {
	mention := func(key string, values ...string) {
		if !keys[key] {
			return
		}
		list := mentioned[key]
		for _, v := range values {
			if !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
		mentioned[key] = list
	}
	for k, v := range s.NodeSelector {
		mention(k, v)
	}
	for _, term := range s.Affinity {
		for j := range term {
			mention(term[j].Key, term[j].Values...)
		}
	}
	for j := range s.Spread {
		mention(s.Spread[j].Key)
	}
	for _, list := range [][]model.WeightedPodTerm{s.PreferredPods, s.PreferredApart} {
		for j := range list {
			mention(list[j].Term.Key)
		}
	}
	for _, list := range [][]model.PodTerm{s.PodAffinity, s.PodAntiAffinity} {
		for j := range list {
			mention(list[j].Key)
		}
	}
}
