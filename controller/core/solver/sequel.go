package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// turnEffort bounds the improvement of what is packed after pods were placed in
// turn, which has a good start.
const turnEffort = 200

// While pods are left out, they are placed in turn anew up to maxInsisted times, by
// the first ways of insisting.
const (
	maxInsisted = 5
	insisting   = 2
)

// sequel looks for a better plan by placing pods in turn.
type sequel struct {
	in       Input
	required []model.PodSpec
	like     *problem
	best     outcome
	// spurned led to the best plan, if insisting did.
	spurned []int32
}

// try makes a plan pod by pod, and another by packing the pods again where they
// came to be. It returns how many pods of each class were left out although each
// alone would have a place; nil where the way does not do.
func (s *sequel) try(by turning) []int32 {
	in := s.in
	in.Effort = min(in.Effort, turnEffort)
	p := newProblem(&in, s.required, s.like)
	hosts := p.hosts()
	t := p.inTurn(hosts, by)
	if t == nil {
		return nil
	}
	plan := p.write(t.a, hosts)
	s.consider(plan)
	if len(plan.Nodes) == 0 {
		return t.left
	}
	if a := t.repack(); a != nil {
		s.consider(p.write(a, hosts))
	}
	return t.left
}

func (s *sequel) consider(o outcome) {
	if preferable(s.in.Snapshot, o, s.best) {
		s.best = o
	}
}

// insisted tries the other ways of placing pods in turn in the order that has led to
// the best plan, which may be dear.
func (s *sequel) insisted() {
	if s.spurned == nil {
		return
	}
	for _, by := range turnings() {
		if s.in.meter.weary() {
			return
		}
		by.spurned = s.spurned
		s.try(by)
		by.friendly = true
		s.try(by)
	}
}

// insist places pods in turn again while some are left out, those that were left
// out most often first.
func (s *sequel) insist(by turning, left []int32) {
	by.spurned = make([]int32, len(left))
	for range maxInsisted {
		if s.in.hasty || s.in.meter.weary() || len(s.best.Unplaced) == 0 || !by.spurn(left) {
			return
		}
		before := len(s.best.Unplaced)
		if left = s.try(by); len(s.best.Unplaced) < before {
			s.spurned = slices.Clone(by.spurned)
		}
	}
}

// spurn counts those left out once more, and says whether that changes the order in
// which pods come.
func (by *turning) spurn(left []int32) bool {
	before := slices.Clone(by.spurned)
	for c, n := range left {
		by.spurned[c] += min(n, 1)
	}
	for c := range left {
		for o := range left[:c] {
			if cmp.Compare(before[c], before[o]) != cmp.Compare(by.spurned[c], by.spurned[o]) {
				return true
			}
		}
	}
	return false
}

// newPossible finds the classes whose pods would have a place if they were alone.
func (t *turns) newPossible() {
	t.possible = make([]bool, len(t.classes))
	for c := range t.classes {
		cl := &t.classes[c]
		t.possible[c] = t.someFits(&cl.req, t.choices.sets[cl.offers]) || slices.ContainsFunc(t.hosts, func(h host) bool {
			return fits(&cl.req, &h.room, t.dims.n()) && h.admits(cl)
		})
	}
}

// forsake notes who is left out although one alone would have a place.
func (t *turns) forsake() {
	t.left = make([]int32, len(t.classes))
	for c := range t.classes {
		if t.waits(int32(c)) && t.possible[c] {
			t.left[c] = t.a.left[c]
		}
	}
}
