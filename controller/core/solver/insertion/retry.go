package insertion

import (
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/problem"
)

// retries says which classes are worth another try after a pod was placed. A class that
// found no place can only find one later if there is a new node, or a pod was placed that one
// of its topology groups counts; everything else leaves less room than before. The exception is
// a node that grows and gives back some of another limit: Insertion.run, which tries every
// class again in its next round, finds that.
type retries struct {
	// counted is by topology group how many of the placed pods it counts.
	counted []uint64
	// failedAt is by class the sum of the counts of its groups when it last found no place,
	// plus 1; 0 when it was not tried, or had a place.
	failedAt []uint64
}

func newRetries(p *problem.Problem) *retries {
	return &retries{counted: make([]uint64, len(p.Topology.All)), failedAt: make([]uint64, len(p.Classes))}
}

// placed counts a pod with the terms.
func (t *retries) placed(terms *constraint.Terms) {
	if terms == nil {
		return
	}
	for _, groups := range [][]int32{terms.DomainGroups, terms.HostGroups} {
		for _, g := range groups {
			t.counted[g]++
		}
	}
}

// sum returns a number that grows with every placed pod that may let the terms be met.
func (t *retries) sum(terms *constraint.Terms) uint64 {
	sum := uint64(1)
	if terms == nil {
		return sum
	}
	for _, groups := range [][]int32{terms.DomainGroups, terms.HostGroups} {
		for _, g := range groups {
			sum += t.counted[g]
		}
	}
	for _, rules := range [][]constraint.Rule{terms.DomainRules, terms.HostRules} {
		for i := range rules {
			sum += t.counted[rules[i].Group]
		}
	}
	return sum
}

// retryFailed tries again to place pods of classes that earlier trials left out, after a
// pod of class c was placed that may satisfy their affinity.
func (t *Insertion) retryFailed(order []int32, c int32) {
	if t.by.Failures == nil || t.exhausted() {
		return
	}
	for _, other := range order {
		if other == c || !t.by.failedBefore(other) {
			continue
		}
		for !t.exhausted() && t.hasWaiting(other) && t.retry(other) {
		}
	}
}

// retry places one pod of a class, unless it found no place before and nothing that matters
// to it has changed since.
func (t *Insertion) retry(c int32) bool {
	return t.retries.failedAt[c] != t.changes(c) && t.try(c)
}

// try places one pod of a class and remembers when it finds no place.
func (t *Insertion) try(c int32) bool {
	if t.place(c) {
		t.retries.failedAt[c] = 0
		return true
	}
	t.retries.failedAt[c] = t.changes(c)
	return false
}

// changes returns a number that grows with every new node and every placed pod that matters to a class.
func (t *Insertion) changes(c int32) uint64 {
	return t.retries.sum(t.p.Classes[c].Terms) + uint64(len(t.nodes))
}

// exhausted reports whether so many places were examined that the remaining pods are
// placed without regard to earlier failures.
func (t *Insertion) exhausted() bool { return t.placesTried > effort.LooksOnce }
