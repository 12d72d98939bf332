package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/vec"
)

// insertionEffort bounds the improvement of what is packed after pods were placed in
// turn, which has a good start.
const insertionEffort = 200

// While pods are left out, they are placed in turn anew up to maxRetries times, by
// the first ways of retriedStrategies.
const (
	maxRetries        = 5
	retriedStrategies = 2
)

// retryPortfolio looks for a better plan by placing pods in turn.
type retryPortfolio struct {
	in       Input
	required []model.PodSpec
	base     *problem
	best     outcome
	// failures led to the best plan, if insisting did.
	failures []int32
}

// try makes a plan pod by pod, and another by packing the pods again where they
// came to be. It returns how many pods of each class were left out although each
// alone would have a place; nil where the way does not do.
func (s *retryPortfolio) try(by insertionStrategy) []int32 {
	in := s.in
	in.Effort = min(in.Effort, insertionEffort)
	p := newProblem(&in, s.required, s.base)
	hosts := p.hosts()
	t := p.insertPods(hosts, by)
	if t == nil {
		return nil
	}
	plan := p.write(t.a, hosts)
	s.consider(plan)
	if len(plan.Nodes) == 0 {
		return t.unplaced
	}
	if a := t.repack(); a != nil {
		s.consider(p.write(a, hosts))
	}
	return t.unplaced
}

func (s *retryPortfolio) consider(o outcome) {
	if preferable(s.in.Snapshot, o, s.best) {
		s.best = o
	}
}

// retryOthers tries the other ways of placing pods in turn in the order that has led to
// the best plan, which may be dear.
func (s *retryPortfolio) retryOthers() {
	if s.failures == nil {
		return
	}
	for _, by := range insertionStrategies() {
		if s.in.meter.insertionExhausted() {
			return
		}
		by.failures = s.failures
		s.try(by)
		by.affinityTargetsFirst = true
		s.try(by)
	}
}

// retryUnplaced places pods in turn again while some are left out, those that were left
// out most often first.
func (s *retryPortfolio) retryUnplaced(by insertionStrategy, left []int32) {
	by.failures = make([]int32, len(left))
	for range maxRetries {
		if s.in.draft || s.in.meter.insertionExhausted() || len(s.best.Unplaced) == 0 || !by.addFailures(left) {
			return
		}
		before := len(s.best.Unplaced)
		if left = s.try(by); len(s.best.Unplaced) < before {
			s.failures = slices.Clone(by.failures)
		}
	}
}

// addFailures counts those left out once more, and says whether that changes the order in
// which pods come.
func (by *insertionStrategy) addFailures(left []int32) bool {
	before := slices.Clone(by.failures)
	for c, n := range left {
		by.failures[c] += min(n, 1)
	}
	for c := range left {
		for o := range left[:c] {
			if cmp.Compare(before[c], before[o]) != cmp.Compare(by.failures[c], by.failures[o]) {
				return true
			}
		}
	}
	return false
}

// findPlaceable finds the classes whose pods would have a place if they were alone.
func (t *insertion) findPlaceable() {
	t.placeable = make([]bool, len(t.classes))
	for c := range t.classes {
		cl := &t.classes[c]
		t.placeable[c] = t.someFits(&cl.req, t.choices.sets[cl.offers]) || slices.ContainsFunc(t.hosts, func(h host) bool {
			return vec.Fits(&cl.req, &h.free, t.dims.n()) && h.admits(cl)
		})
	}
}

// recordUnplaced notes who is left out although one alone would have a place.
func (t *insertion) recordUnplaced() {
	t.unplaced = make([]int32, len(t.classes))
	for c := range t.classes {
		if t.hasWaiting(int32(c)) && t.placeable[c] {
			t.unplaced[c] = t.a.left[c]
		}
	}
}
