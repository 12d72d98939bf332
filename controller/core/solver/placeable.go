package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// findPlaceable sets placeable: the classes of which a pod would have a place alone.
func (t *insertion) findPlaceable() {
	t.placeable = make([]bool, len(t.p.Classes))
	for c := range t.p.Classes {
		cl := &t.p.Classes[c]
		t.placeable[c] = t.p.SomeFits(&cl.Requests, t.p.Choices.All[cl.Choice]) || slices.ContainsFunc(t.hosts, func(h problem.Host) bool {
			return vec.Fits(&cl.Requests, &h.Free, t.p.Supply.Dims.N()) && h.Admits(cl)
		})
	}
}

// recordUnplaced sets unplaced: the number of pods left out in each placeable class.
func (t *insertion) recordUnplaced() {
	t.unplaced = make([]int32, len(t.p.Classes))
	for c := range t.p.Classes {
		if t.hasWaiting(int32(c)) && t.placeable[c] {
			t.unplaced[c] = t.a.Left[c]
		}
	}
}
