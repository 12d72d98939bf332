package solver

import (
	"testing"

	"spokeshave.dev/controller/core/model"
)

// TestKeeps: whether a plan with fewer preferences replaces the one before depends on the most
// urgent pods that one of them leaves out and the other does not, and only then on how many.
func TestKeeps(t *testing.T) {
	s := &model.Snapshot{Specs: []model.PodSpec{{}, {Priority: 100}}}
	for i := range 6 {
		s.Pods = append(s.Pods, model.Pod{Spec: int32(i % 2)}) // odd ones are urgent
	}
	without := func(cost float64, pods ...int32) outcome {
		plan := &model.Plan{}
		for _, p := range pods {
			plan.Unplaced = append(plan.Unplaced, model.Unplaced{Pod: p})
		}
		return outcome{Plan: plan, stats: &Stats{Effective: cost}}
	}
	for name, tc := range map[string]struct {
		reason               string
		found, before        outcome
		more, asMany, asGood bool
	}{
		"urgent for two":  {"one urgent pod counts more than two others", without(1, 1), without(2, 0, 2), false, false, false},
		"two for urgent":  {"the same the other way round", without(2, 0, 2), without(1, 1), true, true, true},
		"fewer":           {"of one priority the number counts", without(2, 0), without(1, 0, 2), true, true, true},
		"more":            {"the same the other way round", without(1, 0, 2), without(2, 0), false, false, false},
		"others, cheaper": {"which of one priority does not matter, and cost decides", without(1, 0, 1), without(2, 2, 3), false, true, true},
		"others, dearer":  {"the same the other way round", without(2, 0, 1), without(1, 2, 3), false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := [3]bool{placesMore(s, tc.found, tc.before), placesAsMany(s, tc.found, tc.before), atLeastAsGood(s, tc.found, tc.before)}
			if want := [3]bool{tc.more, tc.asMany, tc.asGood}; got != want {
				t.Errorf("%s: places more, as many, is at least as good: %v, want %v", tc.reason, got, want)
			}
		})
	}
}
