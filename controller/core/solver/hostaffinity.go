package solver

import (
	"maps"

	"spokeshave.dev/controller/core/model"
)

// unmetHostAffinity are pods that want others on their own node and found none on the nodes
// at hand, as a plan without bundles showed.
type unmetHostAffinity struct {
	pods map[int32]bool
	// refused are those for which there was no place in a bundle either.
	refused map[int32][]model.Reason
	// deferred fills in the texts of refused, which only the plan that is kept needs.
	deferred []func()
}

// answer is a plan, and what it leaves to be done otherwise.
type answer struct {
	outcome
	p *problem
	// unmet are pods that want others on their own node and found none there,
	// unplacedBundles those of bundles without a place.
	unmet, unplacedBundles []int32
}

// replanEffort bounds the improvement of plans that are made to see who is left out.
const replanEffort = 200

// maxBundleRounds is how often a plan is made again while bundles find no place.
const maxBundleRounds = 6

// planWithBundles makes a plan. Pods that find none of those whom they want on their own
// node are bundled with them, and bundles that find no place are undone.
func planWithBundles(in *Input, solve func(w *unmetHostAffinity, effort int) answer) answer {
	best := solve(nil, in.Effort)
	w := &unmetHostAffinity{pods: map[int32]bool{}, refused: map[int32][]model.Reason{}}
	var found *answer
	var with *unmetHostAffinity
	for next, round := best, 0; round < maxBundleRounds && w.record(&next); round++ {
		next = solve(w, replanEffort)
		if found == nil || !preferable(in.Snapshot, found.outcome, next.outcome) {
			found, with = new(next), w.clone()
		}
		if in.meter.exhausted() {
			break
		}
	}
	if found == nil {
		return best
	}
	if !in.draft && in.Effort > replanEffort {
		if again := solve(with, in.Effort); !preferable(in.Snapshot, found.outcome, again.outcome) {
			found = &again
		}
	}
	if preferable(in.Snapshot, best.outcome, found.outcome) {
		return best
	}
	explain := found.explain
	found.explain = func() {
		for _, tell := range w.deferred {
			tell()
		}
		explain()
	}
	return *found
}

func (w *unmetHostAffinity) clone() *unmetHostAffinity {
	return &unmetHostAffinity{pods: maps.Clone(w.pods), refused: maps.Clone(w.refused)}
}

// record takes in what an answer left to be done, and says whether that is
// anything new.
func (w *unmetHostAffinity) record(a *answer) bool {
	found := false
	for _, pod := range a.unmet {
		found = found || !w.pods[pod]
		w.pods[pod] = true
	}
	broken := make(map[int32]bool, len(a.unplacedBundles))
	for _, pod := range a.unplacedBundles {
		broken[pod] = w.pods[pod]
	}
	if len(a.unplacedBundles) > 0 {
		w.deferred = append(w.deferred, a.explain)
	}
	said := map[*model.Reason][]model.Reason{}
	for i := range a.Unplaced {
		u := &a.Unplaced[i]
		if !broken[u.Pod] || w.refused[u.Pod] != nil {
			continue
		}
		found = true
		why := said[&u.Reasons[0]]
		if why == nil {
			why = make([]model.Reason, len(u.Reasons))
			w.deferred = append(w.deferred, func() {
				for j, r := range u.Reasons {
					r.Message = "with the pods that it wants on its own node: " + r.Message
					why[j] = r
				}
			})
			said[&u.Reasons[0]] = why // pods of a class share their reasons
		}
		w.refused[u.Pod] = why
	}
	return found
}
