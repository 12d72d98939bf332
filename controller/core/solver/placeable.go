package solver

import (
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// findPlaceable finds the classes whose pods would have a place if they were alone.
func (t *insertion) findPlaceable() {
	t.placeable = make([]bool, len(t.classes))
	for c := range t.classes {
		cl := &t.classes[c]
		t.placeable[c] = t.someFits(&cl.req, t.choices.sets[cl.offers]) || slices.ContainsFunc(t.hosts, func(h host) bool {
			return vec.Fits(&cl.req, &h.free, t.supply.Dims.N()) && h.admits(cl)
		})
	}
}

// recordUnplaced notes who is left out although one alone would have a place.
func (t *insertion) recordUnplaced() {
	t.unplaced = make([]int32, len(t.classes))
	for c := range t.classes {
		if t.hasWaiting(int32(c)) && t.placeable[c] {
			t.unplaced[c] = t.a.left[c]
		}
	}
}
