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
	// unmet are pods that want others on their own node and found none there,
	// unplacedBundles those of bundles without a place.
	unmet, unplacedBundles []int32
	// modes are those in which the packing was attempted.
	modes []ModeTrial
}

func newUnmetHostAffinity() *unmetHostAffinity {
	return &unmetHostAffinity{pods: map[int32]bool{}, refused: map[int32][]model.Reason{}}
}

// tell fills in the texts of refused.
func (w *unmetHostAffinity) tell() {
	for _, late := range w.deferred {
		late()
	}
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
