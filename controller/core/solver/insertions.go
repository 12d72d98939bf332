package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/insertion"
	"spokeshave.dev/controller/core/solver/parallel"
	"spokeshave.dev/controller/core/solver/problem"
)

// leftOut counts the pods left out by the trials of one insertion strategy.
type leftOut struct {
	// failures[c] counts the trials that left out pods of class c although one of
	// them would have a place alone.
	failures []int32
	// news is set when the last trial changed the order of classes by failures.
	news bool
	// first and last are how many pods the first and the last trial left out that would
	// have a place alone.
	first, last int32
}

// inserted is a plan that was made pod by pod.
type inserted struct {
	strategy *strategy
	// in is the question, with work of its own.
	in       Input
	work     effort.Work
	failures []int32
	problem  *problem.Problem
	hosts    []problem.Host
	// plan is without a Plan, and insertion nil, when none was made.
	plan      outcome
	insertion *insertion.Insertion
}

// insert places pods one by one, in several ways at the same time.
func (s *search) insert(by []strategy, why []string) {
	made := make([]*inserted, len(by))
	for i := range by {
		made[i] = &inserted{strategy: &by[i], in: s.in}
	}
	parallel.Each(len(by), func(i int) { made[i].make(s) })
	for i, x := range made {
		before := len(s.best.Unplaced)
		s.log.begin(Trial{Strategy: x.strategy.name, Question: s.name, Why: why[i], Effort: x.strategy.effort})
		s.log.budget.Add(&x.work)
		s.considerInserted(x)
		k, left := x.strategy.options.kind, &s.leftOut[x.strategy.options.base]
		if k == insert || k == insertFailedFirst {
			left.note(x)
		}
		if k == insertFailedFirst && len(s.best.Unplaced) < before {
			s.order, s.orderBase = x.failures, x.strategy.options.base
		}
	}
}

// make makes the plan. It reads the search and does not change it.
func (x *inserted) make(s *search) {
	st := x.strategy
	by := st.options.insertion
	switch k := st.options.kind; {
	case k == insertFailedFirst:
		by.Failures = slices.Clone(s.leftOut[st.options.base].failures)
	case k >= insertBestOrder:
		by.Failures, by.AffinityTargetsFirst = s.order, k == insertTargetsFirst
	}
	x.failures = by.Failures
	x.in.Effort, x.in.work = st.effort, &x.work
	x.problem = problem.New(x.in.problem(s.required))
	x.hosts = x.problem.Hosts()
	if x.insertion = insertion.Insert(x.problem, x.in.options(), x.hosts, by, &s.places); x.insertion != nil {
		x.plan = write(x.problem, &x.in, x.insertion.Attempt, x.hosts)
	}
}

// considerInserted keeps a plan that is the best, and notes whose pods may be packed again.
func (s *search) considerInserted(x *inserted) {
	if x.insertion == nil {
		s.log.drop("there are too many kinds of places, or limits are in the way")
		return
	}
	s.log.end(&x.plan)
	s.consider(x.plan)
	if len(x.plan.Nodes) > 0 && leavesOut(s.in.Snapshot, x.plan, s.best) <= 0 {
		s.candidates = append(s.candidates, x)
	}
}

// promising returns the insertions that leave out as few pods as the best plan, which packing
// again does not change, the cheapest one first. Of those with the same cost, which are the same plan
// as a rule, it returns the first.
func (s *search) promising() []*inserted {
	var chosen []*inserted
	known := map[float64]bool{}
	for _, x := range s.candidates {
		cost := x.plan.cost()
		if !known[cost] && leavesOut(s.in.Snapshot, x.plan, s.best) <= 0 {
			known[cost] = true
			chosen = append(chosen, x)
		}
	}
	slices.SortStableFunc(chosen, func(a, b *inserted) int { return cmp.Compare(a.plan.cost(), b.plan.cost()) })
	return chosen
}

// repack packs the pods on new nodes again, within their domains, of the insertions that
// leave out as few pods as the best plan. Where pods are many, or ruin and recreate follows, it does so with the
// cheapest ones first, and with the others only if that makes one cheaper: otherwise constraints between
// pods are in the way, which packing does not see.
func (s *search) repack() {
	if s.quick && len(s.best.Unplaced) > 0 {
		return // a question with fewer preferences follows
	}
	chosen := s.promising()
	n := len(chosen)
	if s.recreatesWhole() || !s.small() {
		n = min(n, repackedFirst)
	}
	if s.repackSome(chosen[:n]) {
		s.repackSome(chosen[n:])
	}
}

// repackSome packs the pods on new nodes of some insertions again, at the same time, and reports whether that
// makes one of them cheaper.
func (s *search) repackSome(chosen []*inserted) bool {
	again, cheaper := make([]outcome, len(chosen)), false
	parallel.Each(len(chosen), func(i int) {
		x := chosen[i]
		x.work = effort.Work{}
		if a := x.insertion.Repack(); a != nil {
			again[i] = write(x.problem, &x.in, a, x.hosts)
		}
	})
	for i, x := range chosen {
		s.log.begin(Trial{Strategy: x.strategy.name + ", repacked", Question: s.name, Why: "new nodes were chosen one at a time", Effort: x.strategy.effort})
		s.log.budget.Add(&x.work)
		if again[i].Plan == nil {
			s.log.drop("pods found no place")
			continue
		}
		s.log.end(&again[i])
		s.consider(again[i])
		cheaper = cheaper || again[i].cost() < x.plan.cost()
	}
	return cheaper
}

// note counts the classes that a trial left pods of.
func (x *leftOut) note(by *inserted) {
	var left []int32
	if by.insertion != nil {
		left = by.insertion.Unplaced
	}
	isFirst := x.failures == nil
	if isFirst {
		x.failures = make([]int32, len(left))
	}
	x.news, x.last = false, 0
	if left == nil {
		return
	}
	for _, n := range left {
		x.last += n
	}
	if isFirst {
		x.first = x.last
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
// order. Once a solve has looked at many places, it ends when such an order has left out
// more than the first one.
func failed(s *search, st *strategy) string {
	x, work := &s.leftOut[st.options.base], s.log.budget
	worse := x.last > x.first && work.Looks() > effort.LooksOnce
	if s.quick || work.LooksSpent() || len(s.best.Unplaced) == 0 || !x.news || worse {
		return ""
	}
	return "pods are left out that would have a place alone"
}

// inBestOrder applies when an order of classes has placed more pods than any earlier
// plan. Once all pods have a place, those that others depend on need not come first.
func inBestOrder(s *search, st *strategy) string {
	k := st.options.kind
	same := k == insertBestOrder && st.options.base == s.orderBase // it is that plan
	placed := k == insertTargetsFirst && len(s.best.Unplaced) == 0
	if s.order == nil || same || placed || s.log.budget.LooksSpent() {
		return ""
	}
	return "an order of pods has placed more, but may be dear"
}
