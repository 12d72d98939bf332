package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// findPlaceable sets placeable: the classes of which a pod would have a place alone.
func (t *insertion) findPlaceable() {
	t.placeable = make([]bool, len(t.p.classes))
	for c := range t.p.classes {
		cl := &t.p.classes[c]
		t.placeable[c] = t.p.someFits(&cl.req, t.p.choices.All[cl.offers]) || slices.ContainsFunc(t.hosts, func(h host) bool {
			return vec.Fits(&cl.req, &h.free, t.p.supply.Dims.N()) && h.admits(cl)
		})
	}
}

// recordUnplaced sets unplaced: the number of pods left out in each placeable class.
func (t *insertion) recordUnplaced() {
	t.unplaced = make([]int32, len(t.p.classes))
	for c := range t.p.classes {
		if t.hasWaiting(int32(c)) && t.placeable[c] {
			t.unplaced[c] = t.a.left[c]
		}
	}
}
