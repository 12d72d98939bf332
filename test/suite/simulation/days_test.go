package simulation

import (
	"fmt"
	"math"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// TestDays runs clusters whose load comes and goes with the day, while things
// go wrong: the controller dies between any two writes, instances never become
// nodes or end under our feet, prices and policies change between a decision and
// its end. What users rely on must hold at every step, and when all is quiet again
// nothing may be left half done.
func TestDays(t *testing.T) {
	length := 2 * time.Hour
	if os.Getenv("SOAK") != "" {
		length = 72 * time.Hour
	}
	var all [kinds]atomic.Int64
	t.Cleanup(func() { // after the clusters, which run beside each other
		for f := range kinds {
			if all[f].Load() == 0 {
				t.Errorf("fault %d struck no cluster: nothing was tested", f)
			}
		}
	})
	for seed := range uint64(clusters()) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newCluster(t, 1000+seed, 4+int(seed%10))
			w.faults = &faults{every: [kinds]int{dead: 8, stuck: 8, lost: 300, prices: 60, swapped: 40}}
			most := 1 + 4*w.rng.Float64()
			w.policies = append(w.policies, &fickle{most: &most})
			const step = 20 * time.Second
			for start := w.clock.Now(); w.clock.Now().Sub(start) < length; {
				w.tide()
				w.mishaps()
				w.step(step)
				w.decide()
				w.holds()
			}
			struck := w.faults.struck
			for f := range kinds {
				all[f].Add(int64(struck[f]))
			}
			w.calm()
			t.Logf("the controller died %d times, %d instances were stuck and %d lost, prices changed %d times, the policy %d times",
				struck[dead], struck[stuck], struck[lost], struck[prices], struck[swapped])
		})
	}
}

// tide changes the load: more by day than by night, and by chance.
func (w *simulatedCluster) tide() {
	if w.rng.IntN(8) != 0 {
		return
	}
	day := 1 + math.Sin(2*math.Pi*float64(w.clock.Now().Hour())/24)
	d := w.deploys[w.rng.IntN(len(w.deploys))]
	d.want = w.rng.IntN(2 + int(10*day))
}

// holds is asked at every step, here and in TestQuiet; budgets are held against
// every decision (withinBudget), the ceiling against every launch (affordable).

// patience is how long a pod may wait for a home that nothing denies it: until
// an instance that never becomes a node has been given up, twice.
const patience = 2*registration + 5*time.Minute

// holds checks what users rely on.
func (w *simulatedCluster) holds() {
	w.t.Helper()
	now := w.clock.Now()
	away := map[*deployment]int{}
	for _, p := range w.pods {
		if p.evicted && p.node == "" {
			away[p.of]++
		}
		if p.node == "" && now.Sub(p.since) > patience && now.Sub(p.refused) > time.Hour {
			w.t.Errorf("%s: pod %s has been without a node since %s, and nothing says why", now, p.name, p.since)
			p.since = now
		}
		if p.node != "" && w.find(p.node) == nil {
			w.t.Errorf("%s: pod %s is bound to %s, which is gone", now, p.name, p.node)
		}
	}
	for d, n := range away {
		if n > d.missing {
			w.t.Errorf("%s: %d pods of %s were evicted and are away at once, %d may be", now, n, d.name, d.missing)
		}
	}
	w.paired()
}

// paired checks that every node has its machine and every machine its node,
// after the registration timeout at the latest.
func (w *simulatedCluster) paired() {
	w.t.Helper()
	now := w.clock.Now()
	running := map[string]bool{}
	for _, m := range w.cloud.Machines() {
		if m.State != "terminated" && m.State != "shutting-down" {
			if running[m.Claim] {
				w.t.Errorf("%s: two machines belong to %s", now, m.Claim)
			}
			running[m.Claim] = true
		}
	}
	for _, m := range w.nodes {
		if !running[m.Claim] {
			w.t.Errorf("%s: node %s has no machine", now, m.Name)
		}
		if m.State == "InFlight" && now.Sub(m.LaunchedAt) > registration+time.Minute {
			w.t.Errorf("%s: machine %s did not become a node in time", now, m.Name)
		}
		delete(running, m.Claim)
	}
	for claim := range running {
		w.t.Errorf("%s: a machine of %s runs without a claim", now, claim)
	}
}

// calm lets everything end that is under way, and checks that nothing stays
// half done.
func (w *simulatedCluster) calm() {
	w.t.Helper()
	w.faults = nil
	if f := w.fickle(); f != nil {
		f.deny, *f.most = false, 1e6
	}
	w.run(3*time.Hour, 20*time.Second, 0)
	if n := w.homeless(); n > 0 {
		w.t.Errorf("%d pods have no node", n)
	}
	moves := w.moves
	w.run(3*time.Hour, time.Minute, 0)
	if w.moves != moves {
		w.t.Errorf("%d nodes were disrupted in three quiet hours", w.moves-moves)
	}
	for _, m := range w.nodes {
		if m.Command != nil || m.deleting || tainted(&m.Node) {
			w.t.Errorf("node %s is left half done: %+v", m.Name, m.Node)
		}
	}
	w.paired()
	w.t.Logf("%d nodes disrupted; %d nodes at %s $/h left", moves, len(w.nodes), w.cost())
}
