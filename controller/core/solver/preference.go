package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// preferenceKind is the kind of a preference. Kinds are dropped in ascending order.
type preferenceKind uint8

const (
	preferAffinity preferenceKind = iota
	preferAntiAffinity
	preferNode
	preferSpread
	preferUntainted
)

// preference is a preference in force, identified by its index in the spec's list.
type preference struct {
	kind   preferenceKind
	weight int32
	at     int
}

// dropPreferences drops one preference of every spec that has an unplaced pod. It
// reports whether there was any.
func dropPreferences(s *model.Snapshot, plan *model.Plan, wishes [][]preference) bool {
	done := make([]bool, len(wishes))
	dropped := false
	for i := range plan.Unplaced {
		spec := s.Pods[plan.Unplaced[i].Pod].Spec
		if !done[spec] && len(wishes[spec]) > 0 {
			wishes[spec] = wishes[spec][1:]
			dropped = true
		}
		done[spec] = true
	}
	return dropped
}

// preferencesOf returns by spec the preferences of the pods to place.
func preferencesOf(in *Input) [][]preference {
	s := in.Snapshot
	out := make([][]preference, len(s.Specs))
	done := make([]bool, len(s.Specs))
	taints := hasSoftTaints(s)
	for _, i := range in.Pods {
		at := s.Pods[i].Spec
		if done[at] {
			continue
		}
		done[at] = true
		spec := &s.Specs[at]
		var list []preference
		for j := range spec.PreferredPods {
			list = append(list, preference{preferAffinity, spec.PreferredPods[j].Weight, j})
		}
		for j := range spec.PreferredApart {
			list = append(list, preference{preferAntiAffinity, spec.PreferredApart[j].Weight, j})
		}
		for j := range spec.Preferred {
			list = append(list, preference{preferNode, spec.Preferred[j].Weight, j})
		}
		for j := range spec.Spread {
			if spec.Spread[j].Soft {
				list = append(list, preference{preferSpread, 0, j})
			}
		}
		if taints {
			list = append(list, preference{kind: preferUntainted})
		}
		slices.SortStableFunc(list, func(a, b preference) int {
			if o := cmp.Compare(a.kind, b.kind); o != 0 {
				return o
			}
			return cmp.Compare(a.weight, b.weight)
		})
		out[at] = list
	}
	return out
}

// hasSoftTaints reports whether a pool or a node has a PreferNoSchedule taint.
func hasSoftTaints(s *model.Snapshot) bool {
	soft := func(t model.Taint) bool { return t.Effect == model.PreferNoSchedule }
	for i := range s.Pools {
		if slices.ContainsFunc(s.Pools[i].Taints, soft) {
			return true
		}
	}
	for i := range s.Nodes {
		if slices.ContainsFunc(s.Nodes[i].Taints, soft) {
			return true
		}
	}
	return false
}

// withPreferences returns the question with the preferences in force as requirements
// and all others removed.
func withPreferences(in *Input, wishes [][]preference) Input {
	out, s := *in, *in.Snapshot
	s.Specs = slices.Clone(s.Specs)
	for i := range wishes {
		s.Specs[i] = requirePreferences(&s.Specs[i], wishes[i])
	}
	out.Snapshot, out.respectPreferences = &s, true
	return out
}

// requirePreferences returns the spec with the preferences as requirements.
func requirePreferences(from *model.PodSpec, wishes []preference) model.PodSpec {
	s := *from
	s.PreferredPods, s.PreferredApart, s.Preferred = nil, nil, nil
	s.Spread = slices.DeleteFunc(slices.Clone(s.Spread), func(x model.Spread) bool { return x.Soft })
	for _, w := range wishes {
		switch w.kind {
		case preferAffinity:
			s.PreferredPods = append(s.PreferredPods, from.PreferredPods[w.at])
		case preferAntiAffinity:
			s.PreferredApart = append(s.PreferredApart, from.PreferredApart[w.at])
		case preferNode:
			s.Affinity = both(s.Affinity, from.Preferred[w.at].Term)
		case preferSpread:
			// Over other keys than the hostname they are evened out unbounded.
			sp := from.Spread[w.at]
			sp.Soft = sp.Key != constraint.LabelHostname
			s.Spread = append(s.Spread, sp)
		case preferUntainted:
			s.Tolerations = append(slices.Clip(s.Tolerations), model.Toleration{Key: constraint.AvoidSoftTaints, Effect: model.PreferNoSchedule})
		}
	}
	return s
}

// both returns terms that require one of the given terms and more in addition.
func both(terms []model.Term, more model.Term) []model.Term {
	if len(terms) == 0 {
		return []model.Term{more}
	}
	out := make([]model.Term, 0, len(terms))
	for _, t := range terms {
		if len(t) > 0 { // an empty term matches nothing
			out = append(out, slices.Concat(t, more))
		}
	}
	if len(out) == 0 {
		return terms
	}
	return out
}
