package solver

import (
	"testing"

	"spokeshave.dev/test/kit/random"
)

// TestInsertUnderBounds: pods are placed one by one within limits too. Before, an
// insertion that broke one made no plan. Rows of tools/reference about minValues are in
// its own tests.
func TestInsertUnderBounds(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		seed   uint64
		least  int
	}{
		"limits":       {"spreads over zones in pools with a limit of CPU: 32 were placed", 205, 36},
		"nodes":        {"spreads over zones in pools with a limit of nodes: 12 were placed", 373, 18},
		"as Karpenter": {"Karpenter's scheduler places 18 of these, we placed 17", 30, 18},
	} {
		t.Run(name, func(t *testing.T) {
			s := random.NewScenario(tc.seed)
			plan, _ := Solve(Input{Snapshot: s.Question.Snapshot, Pods: s.Question.Pods, Effort: s.Question.Effort, Tolerance: s.Question.Tolerance})
			if placed := len(s.Question.Pods) - len(plan.Unplaced); placed < tc.least {
				t.Errorf("%s: %d of %d pods are placed, want at least %d", tc.reason, placed, len(s.Question.Pods), tc.least)
			}
		})
	}
}
