package solver_test

import (
	"testing"

	"spokeshave.dev/controller/core/solver"
)

// TestPackingLost: packing is made without effort only if it left out many more pods than
// insertion on the question before, and is improved where it then comes close.
func TestPackingLost(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds, a minute under the race detector")
	}
	const pods = 300
	rough, improved := 0, 0
	for _, seed := range []uint64{0, 3} {
		_, stats := solver.Solve(contradictory(seed, pods, 30))
		var packed, inserted int // how many pods each left out at least, on this question
		lost, effort := false, 0 // by far, on the question before; of this question's packing
		for _, x := range stats.Trials {
			switch {
			case x.Strategy == "pack, spread first":
				lost, effort = 20*(packed-inserted) > pods, x.Effort
				packed, inserted = x.Unplaced, pods
				if effort == 0 {
					rough++
				}
				if effort == 0 && !lost {
					t.Errorf("seed %d, %s: packed without effort, which did not lose by far before", seed, x.Question)
				}
			case x.Strategy == "pack, spread first, improved":
				improved++
				if effort > 0 || x.Effort == 0 {
					t.Errorf("seed %d, %s: improved with effort %d, after %d", seed, x.Question, x.Effort, effort)
				}
				packed = min(packed, x.Unplaced)
			case x.Strategy[:4] == "pack":
				packed = min(packed, x.Unplaced)
			case x.Dropped == "":
				inserted = min(inserted, x.Unplaced)
			}
		}
	}
	if rough == 0 || improved == 0 {
		t.Errorf("%d times packed without effort, %d times improved: the test says little", rough, improved)
	}
}
