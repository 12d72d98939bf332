package insertion

import (
	"testing"
)

// TestBetterThan: pods without a place count before the cost.
func TestBetterThan(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		a, b     state
		multiple float64
		want     bool
	}{
		"fewer left out": {"a place for a pod is worth any cost", state{missing: 1, cost: 9}, state{missing: 2, cost: 1}, 1, true},
		"more left out":  {"and no saving is worth a place", state{missing: 2, cost: 1}, state{missing: 1, cost: 9}, 1, false},
		"cheaper":        {"as many are left out", state{cost: 1}, state{cost: 2}, 1, true},
		"equal":          {"nothing is won", state{cost: 2}, state{cost: 2}, 1, false},
		"hardly dearer":  {"the multiple allows it", state{cost: 2.01}, state{cost: 2}, 1.01, true},
		"dearer":         {"by more than the multiple", state{cost: 2.03}, state{cost: 2}, 1.01, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.a.betterThan(&tc.b, tc.multiple); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}
