package churn

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"k8s.io/utils/clock"
)

// slack is by how much what the controller takes at rest may grow from the first measurement
// to the last, besides a twentieth. The garbage collector and idle connections explain it,
// and in a run shorter than [remembered] what is remembered for a while and series of what happens for the first time,
// and in resident memory the garbage of the pages of metrics that the test reads: tens of megabytes where it has to wait for long.
type slack struct {
	heap, resident, goroutines, series float64 // bytes, bytes, numbers
}

const grownShare = 0.05

// remembered is for how long the controller knows of events, launches and outcomes: what it
// takes grows until then, and is told from growth without end only afterwards.
const remembered = 12 * time.Minute

// size is how much comes and goes.
type size struct {
	// rounds are made one after the other. In each, pools NodePools with a class of
	// their own come and go, with nodes nodes each, and the policy is replaced policies
	// times.
	rounds, pools, nodes, policies int
	// warm is how many rounds, and for how long they, go before the first measurement.
	warm    int
	warmFor time.Duration
	slack   slack
}

// share returns the share of the whole that CHURN asks for, 0 when it is not set.
func share(t *testing.T) float64 {
	t.Helper()
	text := os.Getenv("CHURN")
	if text == "" {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n <= 0 || n > 1 {
		t.Fatalf("CHURN=%s: want a share of the whole, more than 0 and at most 1", text)
	}
	return n
}

// sizeOf returns the size of a share of the whole.
func sizeOf(share float64) size {
	if share == 0 {
		return size{rounds: 4, pools: 3, nodes: 1, policies: 2, warm: 2, slack: slack{2e6, 24e6, 10, 1500}}
	}
	rounds := max(4, int(50*share))
	pools := max(2, int(500*share)/rounds)
	n := size{
		rounds: rounds, pools: pools, nodes: max(1, int(10_000*share)/rounds/pools),
		policies: max(1, int(1000*share)/rounds), warm: max(2, rounds/20), slack: slack{2e6, 24e6, 10, 1500},
	}
	if share == 1 {
		n.warmFor, n.slack = remembered, slack{0.2e6, 3e6, 10, 100}
	}
	return n
}

// TestChurn checks that nothing of what has come and gone stays in the controller.
func TestChurn(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	n := sizeOf(share(t))
	var first, last figures
	loaded, err := loadedRevisions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	start := clock.RealClock{}.Now()
	for round := range n.rounds {
		began := clock.RealClock{}.Now()
		replaced := replacePolicies(t.Context(), round*n.policies, n.policies)
		come(t, round, n.pools, n.nodes)
		came := clock.RealClock{}.Since(began)
		if err := <-replaced; err != nil {
			t.Fatal(err)
		}
		leave(t)
		left := clock.RealClock{}.Since(began) - came
		last = measure(t)
		if took := (clock.RealClock{}).Since(start); first.heap == 0 && round+1 >= n.warm && took >= n.warmFor {
			first = last
		}
		gone := round + 1
		t.Logf("%7s (came in %s, left in %s) %6d nodes %4d NodePools and classes %5d policies: heap %6.2f MB, resident %6.1f MB, %4.0f goroutines, %6d series, %4.0f s of processor time",
			clock.RealClock{}.Since(start).Round(time.Second), came.Round(time.Second), left.Round(time.Second), gone*n.pools*n.nodes, gone*n.pools, gone*n.policies,
			last.heap/1e6, last.resident/1e6, last.goroutines, last.series, last.cpu)
		keepProfile(t, strconv.Itoa(round))
	}
	if first.heap == 0 {
		t.Fatalf("the run ended within %s: nothing tells growth from what is remembered for so long", n.warmFor)
	}
	for _, each := range []struct {
		what          string
		before, after float64
		slack         float64
	}{
		{"live heap in bytes", first.heap, last.heap, n.slack.heap},
		{"resident memory in bytes", first.resident, last.resident, n.slack.resident},
		{"goroutines", first.goroutines, last.goroutines, n.slack.goroutines},
		{"series beside those of offerings", float64(first.series - first.offerings), float64(last.series - last.offerings), n.slack.series},
	} {
		if each.after > each.before*(1+grownShare)+each.slack {
			t.Errorf("%s grew from %.0f to %.0f", each.what, each.before, each.after)
		}
	}
	if want := float64(n.rounds * n.policies); last.revisions-loaded < want {
		t.Errorf("%.0f revisions of policies were loaded, want %.0f at least", last.revisions-loaded, want)
	}
	err = stack.Until(t.Context(), "the series of what is gone to leave", 3*time.Minute, func(ctx context.Context) (string, bool) {
		var f figures
		if err := get(ctx, "/metrics", f.read); err != nil {
			return err.Error(), false
		}
		return fmt.Sprintf("%d series, as %.3q", len(f.stale), f.stale), len(f.stale) == 0
	})
	if err != nil {
		t.Error(err)
	}
}

// idleCPU is the largest share of a core that the controller may take while nothing
// happens.
const idleCPU = 0.03

// TestIdle checks that nodes that do not change take hardly any processor time: 1,000 of
// them in the whole.
func TestIdle(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a control plane")
	}
	pools, nodes, settle, during := 1, 3, 5*time.Second, 20*time.Second
	if s := share(t); s > 0 {
		pools, nodes, settle, during = 10, max(1, int(100*s)), 6*time.Minute, 2*time.Minute
	}
	come(t, 999, pools, nodes)
	wait(t, settle) // new nodes are kept for their pods, and instances are listed often for five minutes
	before := measure(t)
	start := clock.RealClock{}.Now()
	keepCPU(t, "idle", during)
	took := clock.RealClock{}.Since(start)
	after := measure(t)
	used := (after.cpu - before.cpu) / took.Seconds()
	t.Logf("%d unchanged nodes: %.2f %% of a core, heap %.1f MB, resident %.1f MB", pools*nodes, 100*used, after.heap/1e6, after.resident/1e6)
	if used > idleCPU {
		t.Errorf("%d unchanged nodes take %.2f %% of a core, want at most %.0f %%", pools*nodes, 100*used, 100*idleCPU)
	}
	leave(t)
}

// wait lets time pass in which nothing is done to the cluster.
func wait(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-clock.RealClock{}.After(d):
	case <-t.Context().Done():
		t.Fatal(context.Cause(t.Context()))
	}
}
