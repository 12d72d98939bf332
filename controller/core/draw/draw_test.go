package draw_test

import (
	"slices"
	"testing"

	"spokeshave.dev/controller/core/draw"
)

// TestSame: a seed gives the same numbers everywhere and for ever, as recorded decisions are
// replayed with them.
func TestSame(t *testing.T) {
	x, list := draw.Numbers(7), []int{0, 1, 2, 3, 4, 5, 6, 7}
	draw.Shuffle(&x, list)
	want := []int{7, 0, 2, 1, 5, 3, 4, 6}
	if !slices.Equal(list, want) {
		t.Errorf("%v, want %v", list, want)
	}
}

// TestBelow draws all numbers below a bound, and about as often.
func TestBelow(t *testing.T) {
	x, seen := draw.Numbers(1), make([]int, 5)
	for range 5000 {
		seen[x.Below(len(seen))]++
	}
	if slices.Min(seen) < 900 || slices.Max(seen) > 1100 {
		t.Errorf("drawn %v times", seen)
	}
}
