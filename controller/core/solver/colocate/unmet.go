package colocate

import (
	"maps"

	"spokeshave.dev/controller/core/model"
)

// Unmet holds the pods whose affinity to others on their own node was not met in a
// plan without bundles.
type Unmet struct {
	pods map[int32]bool
	// refused are those that found no place in a bundle either, with the reasons.
	refused map[int32][]model.Reason
	// deferred are functions that fill in the messages in refused, which only the
	// chosen plan needs.
	deferred []func()
}

// NewUnmet returns an empty set of pods.
func NewUnmet() *Unmet {
	return &Unmet{pods: map[int32]bool{}, refused: map[int32][]model.Reason{}}
}

// Tell fills in the messages of the reasons that classes got from Bundle.
func (w *Unmet) Tell() {
	for _, late := range w.deferred {
		late()
	}
}

// Clone returns a copy of the pods; the messages of their reasons are shared.
func (w *Unmet) Clone() *Unmet {
	return &Unmet{pods: maps.Clone(w.pods), refused: maps.Clone(w.refused)}
}

// Failure is what a plan leaves undone for pods with affinity on their own node.
type Failure struct {
	// Unmet are the pods whose affinity on their own node is not met. Bundles are the
	// pods of bundles without a place.
	Unmet, Bundles []int32
	// Unplaced are all pods without a place. Explain fills in their reasons.
	Unplaced []model.Unplaced
	Explain  func()
}

// Record adds the unmet pods and the unplaced bundles of a plan, and reports whether
// any of them is new.
func (w *Unmet) Record(a *Failure) bool {
	found := false
	for _, pod := range a.Unmet {
		found = found || !w.pods[pod]
		w.pods[pod] = true
	}
	broken := make(map[int32]bool, len(a.Bundles))
	for _, pod := range a.Bundles {
		broken[pod] = w.pods[pod]
	}
	if len(a.Bundles) > 0 {
		w.deferred = append(w.deferred, a.Explain)
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
