package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/insertion"
	"spokeshave.dev/controller/core/solver/problem"
)

// leftOut counts the pods left out by the trials of one insertion strategy.
type leftOut struct {
	// failures[c] counts the trials that left out pods of class c although one of
	// them would have a place alone.
	failures []int32
	// news is set when the last trial changed the order of classes by failures.
	news bool
}

// insert places pods one by one, and packs them again within the domains found.
func (s *search) insert(st *strategy) {
	by, x := st.options.insertion, &s.inserted[st.options.base]
	switch k := st.options.kind; {
	case k == insertFailedFirst:
		by.Failures = slices.Clone(x.failures)
	case k >= insertBestOrder:
		by.Failures, by.AffinityTargetsFirst = s.order, k == insertTargetsFirst
	}
	before := len(s.best.Unplaced)
	left := s.insertBy(st, by)
	if k := st.options.kind; k == insert || k == insertFailedFirst {
		x.note(left)
		if k == insertFailedFirst && len(s.best.Unplaced) < before {
			s.order = by.Failures
		}
	}
}

// insertBy makes one plan pod by pod, and another one by packing the pods on new
// nodes again within their domains. It returns by class how many pods were left out
// although one alone would have a place; nil when the insertion made no plan.
func (s *search) insertBy(st *strategy, by insertion.Strategy) []int32 {
	in := s.in
	in.Effort = st.effort
	p := problem.New(in.problem(s.required))
	hosts := p.Hosts()
	t := insertion.Insert(p, in.options(), hosts, by)
	if t == nil {
		s.log.drop("there are too many kinds of places, or limits are in the way")
		return nil
	}
	plan := write(p, &in, t.Attempt, hosts)
	s.log.end(&plan)
	s.consider(plan)
	if len(plan.Nodes) == 0 || leavesOut(s.in.Snapshot, plan, s.best) > 0 { // packing the pods again leaves out as many
		return t.Unplaced
	}
	s.log.begin(Trial{Strategy: st.name + ", repacked", Question: s.name, Why: "new nodes were chosen one at a time", Effort: st.effort})
	if a := t.Repack(); a != nil {
		again := write(p, &in, a, hosts)
		s.log.end(&again)
		s.consider(again)
	} else {
		s.log.drop("pods found no place")
	}
	return t.Unplaced
}

// note counts the classes that a trial left pods of. left is by class.
func (x *leftOut) note(left []int32) {
	if x.failures == nil {
		x.failures = make([]int32, len(left))
	}
	x.news = false
	if left == nil {
		return
	}
	before := slices.Clone(x.failures)
	for c, n := range left {
		x.failures[c] += min(n, 1)
	}
	x.news = reordered(before, x.failures)
}

// reordered reports whether sorting classes by the two counts gives different
// orders.
func reordered(before, after []int32) bool {
	for c := range after {
		for o := range after[:c] {
			if cmp.Compare(before[c], before[o]) != cmp.Compare(after[c], after[o]) {
				return true
			}
		}
	}
	return false
}

// failed applies when pods are still left out and the failure counts give a new
// order.
func failed(s *search, st *strategy) string {
	if s.quick || s.log.budget.LooksSpent() || len(s.best.Unplaced) == 0 || !s.inserted[st.options.base].news {
		return ""
	}
	return "pods are left out that would have a place alone"
}

// inBestOrder applies when an order of classes has placed more pods than any earlier
// plan.
func inBestOrder(s *search, _ *strategy) string {
	if s.order == nil || s.log.budget.LooksSpent() {
		return ""
	}
	return "an order of pods has placed more, but may be dear"
}
