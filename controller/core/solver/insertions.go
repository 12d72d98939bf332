package solver

import (
	"cmp"
	"slices"
)

// leftOut counts the pods left out by trials of one insertion.
type leftOut struct {
	// failures are, by class, how many trials left out pods that would have a place alone.
	failures []int32
	// news says that the last trial changed which classes failed more often than others.
	news bool
}

// insert places pods one by one, and packs them again where that has put them.
func (s *search) insert(st *strategy) {
	by, x := st.options.insertion, &s.inserted[st.options.base]
	switch k := st.options.kind; {
	case k == insertFailedFirst:
		by.failures = slices.Clone(x.failures)
	case k >= insertBestOrder:
		by.failures, by.affinityTargetsFirst = s.order, k == insertTargetsFirst
	}
	before := len(s.best.Unplaced)
	left := s.insertBy(st, by)
	if k := st.options.kind; k == insert || k == insertFailedFirst {
		x.note(left)
		if k == insertFailedFirst && len(s.best.Unplaced) < before {
			s.order = by.failures
		}
	}
}

// insertBy makes a plan pod by pod, and another by packing the pods again where
// they came to be. It returns how many pods of each class were left out although each
// alone would have a place; nil where the insertion made no plan.
func (s *search) insertBy(st *strategy, by insertionStrategy) []int32 {
	in := s.in
	in.Effort = st.effort
	p := newProblem(&in, s.required)
	hosts := p.hosts()
	t := p.insertPods(hosts, by)
	if t == nil {
		s.log.drop("there are too many kinds of places, or limits are in the way")
		return nil
	}
	plan := p.write(t.a, hosts)
	s.log.end(&plan)
	s.consider(plan)
	if len(plan.Nodes) == 0 {
		return t.unplaced
	}
	s.log.begin(Trial{Strategy: st.name + ", repacked", Question: s.name, Why: "new nodes were chosen one at a time", Effort: st.effort})
	if a := t.repack(); a != nil {
		again := p.write(a, hosts)
		s.log.end(&again)
		s.consider(again)
	} else {
		s.log.drop("pods found no place")
	}
	return t.unplaced
}

// note counts what a trial left out.
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

// reordered says whether sorting by one count gives another order of classes than sorting
// by the other.
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

// failed is when pods are still left out, and others fail than before.
func failed(s *search, st *strategy) string {
	if s.quick || s.log.budget.LooksSpent() || len(s.best.Unplaced) == 0 || !s.inserted[st.options.base].news {
		return ""
	}
	return "pods are left out that would have a place alone"
}

// inBestOrder is when an order of pods has placed more of them than anything before.
func inBestOrder(s *search, _ *strategy) string {
	if s.order == nil || s.log.budget.LooksSpent() {
		return ""
	}
	return "an order of pods has placed more, but may be dear"
}
