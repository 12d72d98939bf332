package simulation

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// TestQuiet: a cluster whose load has stopped changing comes to rest. It is
// shaken for some hours, then left alone for 24, and must not be disrupted
// any more after the first few of them.
func TestQuiet(t *testing.T) {
	var disrupted atomic.Int64
	t.Cleanup(func() { // after the clusters, which run beside each other
		if disrupted.Load() == 0 {
			t.Error("no cluster was ever disrupted: that they come to rest says nothing")
		}
	})
	for seed := range uint64(clusters()) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newCluster(t, seed, 4+int(seed%12))
			w.run(90*time.Minute, 10*time.Second, 30)
			w.run(90*time.Minute, 10*time.Second, 0)
			moves, cost := w.moves, w.cost()
			disrupted.Add(int64(moves))
			w.run(3*time.Hour, time.Minute, 0)
			w.run(18*time.Hour, 5*time.Minute, 0) // what has been at rest for three hours needs no closer look
			if w.moves != moves {
				t.Errorf("%d nodes were disrupted in 21 quiet hours (%d before), the last at %s", w.moves-moves, moves, w.last)
			}
			if w.homeless() > 0 {
				t.Errorf("%d pods have no node", w.homeless())
			}
			if n := len(w.cloud.Machines()); n != len(w.nodes) {
				t.Errorf("%d machines for %d nodes", n, len(w.nodes))
			}
			t.Logf("%d nodes disrupted, %d nodes at %s $/h left (%s)", moves, len(w.nodes), w.cost(), cost)
		})
	}
}

// run lets the time pass in steps; every so many of them, if any, a Deployment
// changes its size.
func (w *simulatedCluster) run(d, step time.Duration, every int) {
	w.t.Helper()
	end := w.clock.Now().Add(d)
	for w.clock.Now().Before(end) {
		if every > 0 && w.rng.IntN(every) == 0 {
			w.deploys[w.rng.IntN(len(w.deploys))].want = w.rng.IntN(20)
		}
		w.step(step)
		w.decide()
		w.holds()
	}
}
