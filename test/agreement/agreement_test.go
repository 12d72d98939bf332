// Package agreement holds plans against the real kube-scheduler: random clusters
// are planned, the planned nodes join, and the scheduler binds the pods. Every
// pod has to end on the node that was planned for it.
package agreement

import (
	"os"
	"strconv"
	"testing"
)

// scenarios is how many clusters are looked at: few by default, as many as SOAK
// says in a long run.
func scenarios(few int) int {
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil {
		return n
	}
	return few
}

// TestScheduler lets the scheduler of a real control plane bind what was
// planned, and says how much of it came true. That is a figure and no verdict:
// while nodes open one after the other, the scheduler may try a pod before its
// node is open. What fails the test is a plan that the scheduler's filters would
// not let come true in any order.
func TestScheduler(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	w := start(t)
	var sum outcome
	for seed := range uint64(scenarios(5)) {
		out := w.run(t, newScenario(seed))
		sum.planned += out.planned
		sum.asPlanned += out.asPlanned
		sum.alike += out.alike
		sum.waiting += out.waiting
		sum.extra += out.extra
		for _, note := range out.notes {
			t.Logf("seed %d: %s", seed, note)
		}
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(sum.planned) }
	t.Logf("%d planned pods: %.2f %% on their planned nodes, %.2f %% when equal pods stand for each other; %d wait, %d more nodes needed",
		sum.planned, share(sum.asPlanned), share(sum.alike), sum.waiting, sum.extra)
}
