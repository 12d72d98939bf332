package solver

import (
	"maps"

	"spokeshave.dev/controller/core/model"
)

// wards are pods that want others on their own node and found none on the nodes
// at hand, as a plan without bundles showed.
type wards struct {
	alone map[int32]bool
	// refused are those for which there was no place in a bundle either.
	refused map[int32][]model.Reason
	// late fills in the texts of refused, which only the plan that is kept needs.
	late []func()
}

// answer is a plan, and what it leaves to be done otherwise.
type answer struct {
	outcome
	p *problem
	// lonely are pods that want others on their own node and found none there,
	// broken those of bundles without a place.
	lonely, broken []int32
}

// againEffort bounds the improvement of plans that are made to see who is left out.
const againEffort = 200

// maxBundled is how often a plan is made again while bundles find no place.
const maxBundled = 6

// bundled makes a plan. Pods that find none of those whom they want on their own
// node are bundled with them, and bundles that find no place are undone.
func bundled(in *Input, solve func(w *wards, effort int) answer) answer {
	best := solve(nil, in.Effort)
	w := &wards{alone: map[int32]bool{}, refused: map[int32][]model.Reason{}}
	var found *answer
	var with *wards
	for next, round := best, 0; round < maxBundled && w.learn(&next); round++ {
		next = solve(w, againEffort)
		if found == nil || !preferable(in.Snapshot, found.outcome, next.outcome) {
			found, with = new(next), w.clone()
		}
		if in.meter.spent() {
			break
		}
	}
	if found == nil {
		return best
	}
	if !in.hasty && in.Effort > againEffort {
		if again := solve(with, in.Effort); !preferable(in.Snapshot, found.outcome, again.outcome) {
			found = &again
		}
	}
	if preferable(in.Snapshot, best.outcome, found.outcome) {
		return best
	}
	explain := found.explain
	found.explain = func() {
		for _, tell := range w.late {
			tell()
		}
		explain()
	}
	return *found
}

func (w *wards) clone() *wards {
	return &wards{alone: maps.Clone(w.alone), refused: maps.Clone(w.refused)}
}

// learn takes in what an answer left to be done, and says whether that is
// anything new.
func (w *wards) learn(a *answer) bool {
	found := false
	for _, pod := range a.lonely {
		found = found || !w.alone[pod]
		w.alone[pod] = true
	}
	broken := make(map[int32]bool, len(a.broken))
	for _, pod := range a.broken {
		broken[pod] = w.alone[pod]
	}
	if len(a.broken) > 0 {
		w.late = append(w.late, a.explain)
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
			w.late = append(w.late, func() {
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
