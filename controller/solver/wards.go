package solver

import (
	"slices"

	"spokeshave.dev/controller/model"
)

// wards are pods that want others on their own node and found none on the nodes
// at hand, as a plan without bundles showed.
type wards struct {
	alone map[int32]bool
	// refused are those for which there was no place in a bundle either.
	refused map[int32][]model.Reason
}

// answer is a plan, and what it leaves to be done otherwise.
type answer struct {
	outcome
	p *problem
	// lonely are pods that want others on their own node and found none there,
	// broken those of bundles without a place.
	lonely, broken []int32
}

// maxBundled is how often a plan is made again while bundles find no place.
const maxBundled = 6

// bundled makes a plan. Pods that find none of those whom they want on their own
// node are bundled with them, and bundles that find no place are undone.
func bundled(in *Input, solve func(*wards) answer) answer {
	best := solve(nil)
	w := &wards{alone: map[int32]bool{}, refused: map[int32][]model.Reason{}}
	for next, round := best, 0; round < maxBundled && w.learn(&next); round++ {
		next = solve(w)
		if !preferable(in.Snapshot, best.outcome, next.outcome) {
			best = next
		}
	}
	return best
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
		a.explain()
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
			why = slices.Clone(u.Reasons)
			for j := range why {
				why[j].Message = "with the pods that it wants on its own node: " + why[j].Message
			}
			said[&u.Reasons[0]] = why // pods of a class share their reasons
		}
		w.refused[u.Pod] = why
	}
	return found
}
