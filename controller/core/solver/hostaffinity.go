package solver

import (
	"maps"

	"spokeshave.dev/controller/core/model"
)

// unmetHostAffinity holds the pods whose affinity to others on their own node was
// not met in a plan without bundles.
type unmetHostAffinity struct {
	pods map[int32]bool
	// refused are those that found no place in a bundle either, with the reasons.
	refused map[int32][]model.Reason
	// deferred are functions that fill in the messages in refused, which only the
	// chosen plan needs.
	deferred []func()
}

// newUnmetHostAffinity returns an empty set of pods.
func newUnmetHostAffinity() *unmetHostAffinity {
	return &unmetHostAffinity{pods: map[int32]bool{}, refused: map[int32][]model.Reason{}}
}

// tell fills in the messages in refused.
func (w *unmetHostAffinity) tell() {
	for _, late := range w.deferred {
		late()
	}
}

// clone returns a copy of the pods; the messages of their reasons are shared.
func (w *unmetHostAffinity) clone() *unmetHostAffinity {
	return &unmetHostAffinity{pods: maps.Clone(w.pods), refused: maps.Clone(w.refused)}
}

// bundleFailure is what a plan leaves undone for pods with affinity on their own node.
type bundleFailure struct {
	// unmet are the pods whose affinity on their own node is not met.
	// unplacedBundles are the pods of bundles without a place.
	unmet, unplacedBundles []int32
	// unplaced are all pods without a place. explain fills in their reasons.
	unplaced []model.Unplaced
	explain  func()
}

// record adds the unmet pods and the unplaced bundles of a plan, and reports whether
// any of them is new.
func (w *unmetHostAffinity) record(a *bundleFailure) bool {
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
	for i := range a.unplaced {
		u := &a.unplaced[i]
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
