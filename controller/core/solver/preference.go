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
	// preferEvenSpread remains of a soft spread, except by hostname, when preferSpread is
	// given up: pods are evened out without a bound.
	preferEvenSpread
	preferUntainted
)

// preference is a preference of a spec, identified by its kind and its index in the
// spec's list of that kind.
type preference struct {
	kind   preferenceKind
	weight int32
	at     int
}

// preferences are those of the pods to place, and which of them are in force.
type preferences struct {
	// bySpec are a spec's preferences in the order in which a pod gives them up, which is
	// Karpenter's: by kind, and within a kind the heaviest first.
	bySpec [][]preference
	// lost is by pod how many of its spec's preferences it has given up.
	lost []int32
}

// preferencesOf returns the preferences of the pods to place, all in force.
func preferencesOf(in *Input) preferences {
	s := in.Snapshot
	out := preferences{bySpec: make([][]preference, len(s.Specs)), lost: make([]int32, len(s.Pods))}
	done := make([]bool, len(s.Specs))
	taints := hasSoftTaints(s)
	for _, i := range in.Pods {
		if at := s.Pods[i].Spec; !done[at] {
			done[at] = true
			out.bySpec[at] = preferencesOfSpec(&s.Specs[at])
			if taints {
				out.bySpec[at] = append(out.bySpec[at], preference{kind: preferUntainted})
			}
		}
	}
	return out
}

// preferencesOfSpec lists a spec's preferences in the order in which they are given up.
// The one for nodes without soft taints comes after them.
func preferencesOfSpec(spec *model.PodSpec) []preference {
	var list []preference
	for j := range spec.PreferredPods {
		list = append(list, preference{preferAffinity, spec.PreferredPods[j].Weight, j})
	}
	for j := range spec.PreferredApart {
		list = append(list, preference{preferAntiAffinity, spec.PreferredApart[j].Weight, j})
	}
	for j := range spec.Preferred {
		if len(spec.Preferred[j].Term) > 0 { // an empty term prefers nothing
			list = append(list, preference{preferNode, spec.Preferred[j].Weight, j})
		}
	}
	for j := range spec.Spread {
		if spec.Spread[j].Soft {
			list = append(list, preference{preferSpread, 0, j})
			if spec.Spread[j].Key != constraint.LabelHostname {
				list = append(list, preference{preferEvenSpread, 0, j})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b preference) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(b.weight, a.weight))
	})
	return list
}

// inForce returns how many preferences of a pod are in force.
func (p *preferences) inForce(s *model.Snapshot, pod int32) int {
	return len(p.bySpec[s.Pods[pod].Spec]) - int(p.lost[pod])
}

// any reports whether a preference of one of the pods is in force.
func (p *preferences) any(s *model.Snapshot, pods []int32) bool {
	return slices.ContainsFunc(pods, func(i int32) bool { return p.inForce(s, i) > 0 })
}

// waived returns how many of the pods have given preferences up.
func (p *preferences) waived(pods []int32) int {
	n := 0
	for _, i := range pods {
		if p.lost != nil && p.lost[i] > 0 {
			n++
		}
	}
	return n
}

// drop makes each unplaced pod give up its next preferences, at most the given number.
// It reports whether there was any.
func (p *preferences) drop(s *model.Snapshot, unplaced []model.Unplaced, most int) bool {
	dropped := false
	for i := range unplaced {
		pod := unplaced[i].Pod
		if n := min(p.inForce(s, pod), most); n > 0 {
			p.lost[pod] += int32(n)
			dropped = true
		}
	}
	return dropped
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
// and all others removed, and its specs without preferences. Pods of one spec that have
// given up different preferences get specs of their own.
func withPreferences(in *Input, p *preferences) (out Input, required []model.PodSpec) {
	out = withoutPreferences(in)
	s := out.Snapshot
	s.Pods = slices.Clone(s.Pods)
	v := variants{from: in.Snapshot.Specs, specs: s.Specs, required: slices.Clip(in.Snapshot.Specs), at: map[variant]int32{}}
	v.noteGivenUp(in, p)
	for _, i := range in.Pods {
		spec := s.Pods[i].Spec
		if list := p.bySpec[spec]; len(list) > 0 {
			s.Pods[i].Spec = v.spec(variant{spec, p.lost[i]}, list)
		}
	}
	s.Specs, out.respectPreferences = v.specs, true
	return out, v.required
}

// withoutPreferences returns the question with all preferences removed.
func withoutPreferences(in *Input) Input {
	out, s := *in, *in.Snapshot
	s.Specs = slices.Clone(s.Specs)
	for i := range s.Specs {
		removePreferences(&s.Specs[i])
	}
	out.Snapshot = &s
	return out
}

func removePreferences(s *model.PodSpec) {
	s.PreferredPods, s.PreferredApart, s.Preferred = nil, nil, nil
	if slices.ContainsFunc(s.Spread, isSoft) {
		s.Spread = slices.DeleteFunc(slices.Clone(s.Spread), isSoft)
	}
}

func isSoft(x model.Spread) bool { return x.Soft }

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
