package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// wishKind orders preferences as they are given up.
type wishKind uint8

const (
	wishNear wishKind = iota
	wishApart
	wishNode
	wishSpread
	wishTaint
)

// wish is a preference in force: one of the spec's, by its place in the list.
type wish struct {
	kind   wishKind
	weight int32
	at     int
}

// avoiding stands among the tolerations of a pod that keeps off nodes with
// PreferNoSchedule taints.
const avoiding = "\x00avoid"

// maxWishRounds is how often a plan is made again with fewer preferences before
// all are given up that stand in the way.
const maxWishRounds = 8

// wishful plans with preferences taken as requirements. Specs whose pods find
// no place give one up at a time: preferred pod affinity first, then preferred
// pod anti-affinity, preferred node affinity, ScheduleAnyway spreads and last
// PreferNoSchedule taints; within a kind the lightest first. No pod is lost
// over a preference, its own or another's.
func wishful(in *Input) outcome {
	wishes := wishesOf(in)
	for round := 0; ; round++ {
		ask := with(in, wishes)
		ask.hasty = true
		if round > 0 {
			ask.Effort = min(in.Effort, againEffort)
		}
		plan := solve(ask, in.Snapshot.Specs)
		if len(plan.Unplaced) == 0 && round == 0 {
			return plan
		}
		if len(plan.Unplaced) > 0 && round < maxWishRounds && !in.meter.spent() && giveUp(in.Snapshot, plan.Plan, wishes) {
			continue
		}
		ask.hasty, ask.Effort = false, in.Effort
		if again := solve(ask, in.Snapshot.Specs); cmp.Or(cmp.Compare(len(again.Unplaced), len(plan.Unplaced)), again.dearer(plan)) <= 0 {
			plan = again
		}
		if len(plan.Unplaced) == 0 {
			return plan
		}
		if slices.ContainsFunc(wishes, func(w []wish) bool { return len(w) > 0 }) {
			if bare := solve(with(in, make([][]wish, len(wishes))), in.Snapshot.Specs); len(bare.Unplaced) < len(plan.Unplaced) {
				return bare
			}
		}
		return plan
	}
}

// dearer compares what two plans cost.
func (o outcome) dearer(than outcome) int {
	return cmp.Compare(o.stats.Effective+o.stats.Fixed.USD(), than.stats.Effective+than.stats.Fixed.USD())
}

// giveUp drops a wish of every spec that has a pod without a place, and says
// whether there was any.
func giveUp(s *model.Snapshot, plan *model.Plan, wishes [][]wish) bool {
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

// hopeful says whether any pod to place prefers something that planning has to
// take as a requirement to respect it.
func hopeful(in *Input) bool {
	if in.Snapshot.Settings.IgnorePreferences {
		return false
	}
	for _, w := range wishesOf(in) {
		if len(w) > 0 {
			return true
		}
	}
	return false
}

// wishesOf lists by spec the preferences of the pods to place.
func wishesOf(in *Input) [][]wish {
	s := in.Snapshot
	out := make([][]wish, len(s.Specs))
	done := make([]bool, len(s.Specs))
	taints := prefersNoPods(s)
	for _, i := range in.Pods {
		at := s.Pods[i].Spec
		if done[at] {
			continue
		}
		done[at] = true
		spec := &s.Specs[at]
		var list []wish
		for j := range spec.PreferredPods {
			list = append(list, wish{wishNear, spec.PreferredPods[j].Weight, j})
		}
		for j := range spec.PreferredApart {
			list = append(list, wish{wishApart, spec.PreferredApart[j].Weight, j})
		}
		for j := range spec.Preferred {
			list = append(list, wish{wishNode, spec.Preferred[j].Weight, j})
		}
		for j := range spec.Spread {
			if spec.Spread[j].Soft {
				list = append(list, wish{wishSpread, 0, j})
			}
		}
		if taints {
			list = append(list, wish{kind: wishTaint})
		}
		slices.SortStableFunc(list, func(a, b wish) int {
			if o := cmp.Compare(a.kind, b.kind); o != 0 {
				return o
			}
			return cmp.Compare(a.weight, b.weight)
		})
		out[at] = list
	}
	return out
}

// prefersNoPods says whether a pool or a node has a PreferNoSchedule taint.
func prefersNoPods(s *model.Snapshot) bool {
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

// with is the question with the wishes in force as requirements and the others
// left out.
func with(in *Input, wishes [][]wish) Input {
	out, s := *in, *in.Snapshot
	s.Specs = slices.Clone(s.Specs)
	for i := range wishes {
		s.Specs[i] = insist(&s.Specs[i], wishes[i])
	}
	out.Snapshot, out.wishing = &s, true
	return out
}

// insist is the spec with the wishes as requirements.
func insist(from *model.PodSpec, wishes []wish) model.PodSpec {
	s := *from
	s.PreferredPods, s.PreferredApart, s.Preferred = nil, nil, nil
	s.Spread = slices.DeleteFunc(slices.Clone(s.Spread), func(x model.Spread) bool { return x.Soft })
	for _, w := range wishes {
		switch w.kind {
		case wishNear:
			s.PreferredPods = append(s.PreferredPods, from.PreferredPods[w.at])
		case wishApart:
			s.PreferredApart = append(s.PreferredApart, from.PreferredApart[w.at])
		case wishNode:
			s.Affinity = both(s.Affinity, from.Preferred[w.at].Term)
		case wishSpread:
			// Over other keys than the hostname they are evened out unbounded.
			sp := from.Spread[w.at]
			sp.Soft = sp.Key != labelHostname
			s.Spread = append(s.Spread, sp)
		case wishTaint:
			s.Tolerations = append(slices.Clip(s.Tolerations), model.Toleration{Key: avoiding, Effect: model.PreferNoSchedule})
		}
	}
	return s
}

// both are the terms that ask for one of the given and for more besides.
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
