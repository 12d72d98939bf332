// Package agreement holds plans against the real kube-scheduler: random clusters
// are planned, the planned nodes join, and the scheduler binds the pods. Every
// pod has to end on the node that was planned for it.
package agreement

import (
	"maps"
	"os"
	"slices"
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

// leastAsPlanned is the share of the planned pods that has to be bound where it
// was planned. A machine with more to do than it can lets reservations run out.
const leastAsPlanned = 0.95

// TestScheduler lets the scheduler of a real control plane bind what was
// planned, with the real reconciler of NodeClaims in between, and says how much
// of it came true: the share of the pods on their planned nodes, why the others
// are not, and how many more nodes they need.
func TestScheduler(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	w := start(t)
	sum := outcome{causes: map[cause]int{}}
	n := scenarios(5)
	for seed := range uint64(n) {
		out := w.run(t, newScenario(seed))
		sum.planned += out.planned
		sum.asPlanned += out.asPlanned
		sum.alike += out.alike
		sum.waiting += out.waiting
		sum.extra += out.extra
		for why, pods := range out.causes {
			sum.causes[why] += pods
		}
		for _, note := range out.notes {
			t.Logf("seed %d: %s", seed, note)
		}
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(sum.planned) }
	t.Logf("%d pods planned on new nodes in %d clusters: %.2f %% on their planned nodes, %.2f %% when equal pods stand for each other; %d wait, %d more nodes needed",
		sum.planned, n, share(sum.asPlanned), share(sum.alike), sum.waiting, sum.extra)
	for _, why := range slices.Sorted(maps.Keys(sum.causes)) {
		t.Logf("%6d: %s", sum.causes[why], why)
	}
	if float64(sum.asPlanned) < leastAsPlanned*float64(sum.planned) {
		t.Errorf("%.2f %% of the pods are where they were planned, want %.0f %%", share(sum.asPlanned), 100*leastAsPlanned)
	}
}
