package app

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// stuckAfter is for how long one step of the decision loop may take. A decision about
// 100,000 pods takes seconds, and the slowest step, the launch of a decision with
// thousands of nodes, minutes.
const stuckAfter = 10 * time.Minute

// watchdog ends a controller whose decision loop makes no progress. It then fails its
// liveness probe, and the manager stops: the leases are released, another replica takes
// over, and the process exits.
type watchdog struct {
	// busy returns for how long the loop has been at one step of its work, 0 while it
	// waits for work (decision.Loop.Busy).
	busy  func() time.Duration
	limit time.Duration
	clock clock.WithTicker
}

// probe implements healthz.Checker.
func (w *watchdog) probe(*http.Request) error { return w.check() }

// check returns an error when the loop is stuck.
func (w *watchdog) check() error {
	if busy := w.busy(); busy > w.limit {
		return fmt.Errorf("the decision loop has been at one step for %s: it is stuck", busy.Round(time.Second))
	}
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: only the leader decides.
func (*watchdog) NeedLeaderElection() bool { return true }

// Start returns an error, which ends the manager, once the loop is stuck.
func (w *watchdog) Start(ctx context.Context) error {
	ticker := w.clock.NewTicker(w.limit / 20)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
			if err := w.check(); err != nil {
				return err
			}
		}
	}
}

// addTo adds the watchdog and its probe to a manager.
func (w *watchdog) addTo(mgr manager.Manager) error {
	if err := mgr.AddHealthzCheck("decisions", w.probe); err != nil {
		return fmt.Errorf("add probe: %w", err)
	}
	if err := mgr.Add(w); err != nil {
		return fmt.Errorf("add the watchdog: %w", err)
	}
	return nil
}
