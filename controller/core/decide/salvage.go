package decide

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// maxProofs is how many plans are checked at most to find the pods on which a plan
// fails its proof: one of ten thousand takes about thirty.
const maxProofs = 200

// salvage finds the part of a plan that can be proven.
type salvage struct {
	*decider

	in    *solver.Input
	whole model.Plan
	// kept are the pods with which the plan is proven.
	kept map[int32]bool
	// left is how many more plans may be checked.
	left int
}

// keepProven replaces a plan that failed its proof by the part that can be proven. The
// pods left out are those that the violations name, without which the rest is proven, or
// else those that a search by halves finds; they get the reason NotProven. It is an
// error when not even a plan without any pod is proven.
func (s *salvage) keepProven(wrong []check.Violation) error {
	suspects := s.named(wrong)
	s.keep(s.except(suspects))
	if !s.proves(nil) {
		suspects = s.except(nil)
		if s.keep(nil); !s.proves(nil) {
			return fmt.Errorf("prove plan: %s", summary(wrong))
		}
	}
	lost := s.add(suspects)
	if len(lost) < len(suspects) {
		lost = s.add(lost) // some may have needed pods that were added after them
	}
	s.out.Plan = s.part(s.kept)
	s.fail(Failure{Kind: Unproven, Part: Provisioning, Message: summary(wrong), Pods: slices.Sorted(slices.Values(lost))})
	return nil
}

// fail records a failure and warns of it.
func (d *decider) fail(f Failure) {
	d.out.Failures = append(d.out.Failures, f)
	d.warn("%s", f.warning())
}

// summary is the number of violations and the first in the order of their texts.
func summary(wrong []check.Violation) string {
	texts := make([]string, 0, len(wrong))
	for i := range wrong {
		texts = append(texts, wrong[i].String())
	}
	return fmt.Sprintf("%d violations, such as %s", len(wrong), slices.Min(texts))
}

// named returns the pending pods that the violations name.
func (s *salvage) named(wrong []check.Violation) []int32 {
	var out []int32
	for i := range wrong {
		out = append(out, wrong[i].Pods...)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(p int32) bool { return !slices.Contains(s.pending, p) })
}

// except returns the pending pods but for some, in the order of the plan.
func (s *salvage) except(these []int32) []int32 {
	out := slices.Clone(s.pending)
	place := map[int32]int{}
	for i := range s.whole.Nodes {
		for _, p := range s.whole.Nodes[i].Pods {
			place[p] = i + 1
		}
	}
	for i := range s.whole.Existing {
		for _, p := range s.whole.Existing[i].Pods {
			place[p] = -i - 1
		}
	}
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(place[a], place[b]) })
	skip := map[int32]bool{}
	for _, p := range these {
		skip[p] = true
	}
	return slices.DeleteFunc(out, func(p int32) bool { return skip[p] })
}

func (s *salvage) keep(pods []int32) {
	s.kept = map[int32]bool{}
	for _, p := range pods {
		s.kept[p] = true
	}
}

// add keeps those of the pods with which the plan is still proven, and returns the
// others.
func (s *salvage) add(pods []int32) []int32 {
	switch {
	case len(pods) == 0 || s.proves(pods):
		for _, p := range pods {
			s.kept[p] = true
		}
		return nil
	case len(pods) == 1 || s.left == 0:
		return pods
	}
	half := len(pods) / 2
	return slices.Concat(s.add(pods[:half]), s.add(pods[half:]))
}

// proves reports whether the plan with the kept pods and some more is proven.
func (s *salvage) proves(more []int32) bool {
	if s.left == 0 {
		return false
	}
	s.left--
	kept := maps.Clone(s.kept)
	for _, p := range more {
		kept[p] = true
	}
	plan := s.part(kept)
	return len(s.violations(s.in, &plan, s.pending)) == 0
}

// part returns the plan with some of the pending pods. The others have no place.
func (s *salvage) part(kept map[int32]bool) model.Plan {
	only := func(pods []int32) []int32 {
		return slices.DeleteFunc(slices.Clone(pods), func(p int32) bool { return !kept[p] })
	}
	var out model.Plan
	for i := range s.whole.Nodes {
		n := s.whole.Nodes[i]
		if n.Pods = only(n.Pods); len(n.Pods) > 0 {
			out.Nodes = append(out.Nodes, n)
		}
	}
	for i := range s.whole.Existing {
		a := s.whole.Existing[i]
		if a.Pods = only(a.Pods); len(a.Pods) > 0 {
			out.Existing = append(out.Existing, a)
		}
	}
	for i := range s.whole.Unplaced {
		if kept[s.whole.Unplaced[i].Pod] {
			out.Unplaced = append(out.Unplaced, s.whole.Unplaced[i])
		}
	}
	for _, p := range s.pending {
		if !kept[p] {
			out.Unplaced = append(out.Unplaced, model.Unplaced{Pod: p, Reasons: []model.Reason{{
				Code: model.NotProven, Message: "the plan for the pod failed its proof, which is a defect in Spokeshave; other pods were planned",
			}}})
		}
	}
	slices.SortStableFunc(out.Unplaced, func(a, b model.Unplaced) int { return cmp.Compare(a.Pod, b.Pod) })
	return out
}
