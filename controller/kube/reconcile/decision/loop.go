// Package decision runs the decision loop: take a snapshot of the cluster, decide,
// apply the decision, and wait for a reason to decide again. Changes of pods,
// NodePools, policies and NodeClaims wake the loop. Pods that arrive shortly after each
// other are batched, so that they are planned together.
//
// Decisions are made in controller/core/decide and applied in controller/kube/actuate.
package decision

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/record/web"
)

// Policies are the policies in force.
type Policies interface {
	// Policies returns the policies in pipeline order.
	Policies() []policy.Policy
	// Contents returns the contents from which each of them was compiled.
	Contents() []policy.Contents
	// Missing returns the names of required policies that are not active.
	Missing() []string
}

// Config is what a [Loop] works with. Fields without a comment are required.
type Config struct {
	Cluster  *cluster.Cluster
	Actuator *actuate.Actuator
	Policies Policies
	Journal  *journal.Journal
	// Log receives the decisions that the journal keeps; nil for no log.
	Log     *journal.Log
	Metrics *metric.Decisions
	Clock   clock.Clock
	// CountSpend writes into the snapshot what each scope has spent this month.
	CountSpend func(context.Context, *model.Snapshot) error
	// Await returns once all existing policies have been loaded or rejected, so that no
	// decision is made without a budget that is merely slow to load.
	Await func(context.Context) error
	// Observed, when set, receives every decision, and the loop applies none.
	Observed func(context.Context, *model.Snapshot, *decide.Decision) error
	// Board shows the decisions on a web page; nil for no page.
	Board *web.Board
	// Idle ends a batch when nothing has woken the loop for so long. Max ends it in any
	// case.
	Idle, Max time.Duration
	// Every is how often to decide without being woken.
	Every time.Duration
}

// Loop decides and applies. It runs on the leader only.
type Loop struct {
	Config

	wake chan struct{}
	// caps are the last caps that the policies returned, by scope and policy.
	caps   map[string]map[string]policy.Cap
	search searchSchedule
	// applied is what the last application wrote. The next snapshot is taken once the
	// watch cache shows it.
	applied cluster.Change
}

// New returns a loop that [Loop.Start] runs.
func New(c Config) *Loop {
	return &Loop{Config: c, wake: make(chan struct{}, 1)}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (l *Loop) NeedLeaderElection() bool { return true }

// Wake requests a decision. It never blocks.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Start runs until the context ends.
func (l *Loop) Start(ctx context.Context) error {
	log := logr.FromContextOrDiscard(ctx).WithName("decision")
	l.Metrics.Lead(l.Clock.Now())
	if err := l.Await(ctx); err != nil {
		return err
	}
	next := time.Duration(0)
	for {
		if !l.wait(ctx, next) {
			return nil
		}
		var err error
		if next, err = l.Round(ctx); err != nil {
			log.Error(err, "the round is made again")
			next = time.Second // wait ends the loop if the context has ended
		}
	}
}

// wait sleeps until the loop is woken or due has passed. It then waits for more until
// nothing has woken the loop for Idle, at most for Max. It returns false when the
// context has ended.
func (l *Loop) wait(ctx context.Context, due time.Duration) bool {
	timer := l.Clock.NewTimer(due)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	case <-l.wake:
	}
	end := l.Clock.Now().Add(l.Max)
	for l.Clock.Now().Before(end) {
		idle := l.Clock.NewTimer(l.Idle)
		select {
		case <-ctx.Done():
			idle.Stop()
			return false
		case <-idle.C():
			return true
		case <-l.wake:
			idle.Stop()
		}
	}
	return true
}

// Round makes one decision, applies it, and returns after how long to make the next
// one.
func (l *Loop) Round(ctx context.Context) (time.Duration, error) {
	if err := l.Cluster.WaitFor(ctx, l.applied); err != nil {
		l.Metrics.SnapshotFailed(l.Clock.Now())
		return 0, err
	}
	l.applied = cluster.Change{}
	start := l.Clock.Now()
	view, err := l.Cluster.Snapshot(ctx)
	if err != nil {
		l.Metrics.SnapshotFailed(l.Clock.Now())
		return 0, fmt.Errorf("take snapshot: %w", err)
	}
	if err := l.CountSpend(ctx, &view.Snapshot); err != nil {
		return 0, fmt.Errorf("count what has been spent: %w", err)
	}
	snapshotTook, before := l.Clock.Since(start), l.search.last
	opts := decide.Options{
		Missing: l.Policies.Missing(), LastCaps: l.caps, Disrupt: true, Explain: true, Search: l.search.due(view.Snapshot.Time),
		Elapsed: func() time.Duration { return l.Clock.Since(start) },
	}
	policies, contents := l.Policies.Policies(), l.Policies.Contents()
	if l.Observed == nil {
		if err := l.planUnplanned(ctx, view, policies, opts); err != nil {
			return 0, err
		}
	}
	l.Metrics.Begin()
	d, err := decide.Decide(ctx, &view.Snapshot, policies, opts)
	l.Metrics.End()
	searched := l.search.record(&d, opts.Search, before)
	l.Metrics.Observe(&view.Snapshot, &d, snapshotTook)
	if err != nil {
		return 0, fmt.Errorf("decide: %w", err)
	}
	l.search.expedite(&d, searched)
	if d.Caps != nil { // the policies were called: a cap that they did not return is gone
		l.caps = d.Caps
	}
	if l.Journal.Add(ctx, &view.Snapshot, &d) {
		l.Log.Add(journal.Decided{Snapshot: &view.Snapshot, Decision: &d, Options: opts, Policies: contents})
	}
	l.Actuator.Reporter.TellCaps(ctx, &d)
	l.Actuator.Reporter.TellWarnings(ctx, view.Snapshot.Time, view.Warnings)
	if l.Board != nil {
		l.Board.Add(&view.Snapshot, &d)
	}
	if l.Observed != nil {
		return l.Every, l.Observed(ctx, &view.Snapshot, &d)
	}
	return l.apply(ctx, view, &d)
}

func (l *Loop) apply(ctx context.Context, view *cluster.View, d *decide.Decision) (time.Duration, error) {
	launched, err := l.Actuator.Launch(ctx, &view.Snapshot, view.Pools, d)
	l.applied.Claims = launched.Claims
	l.Metrics.Created(&view.Snapshot, d, len(launched.Claims))
	if err != nil {
		return 0, err
	}
	l.Actuator.Reporter.TellUnplaced(&view.Snapshot, view.Pools, d)
	l.Actuator.Reporter.TellPools(&view.Snapshot, view.Pools, d)
	assigned, err := l.Actuator.Assign(ctx, &view.Snapshot, d)
	l.applied.Add(&assigned)
	if err != nil {
		return 0, err
	}
	disrupted, err := l.Actuator.Disrupt(ctx, &view.Snapshot, d)
	l.applied.Add(&disrupted)
	if err == nil {
		var commanded cluster.Change
		commanded, err = l.Actuator.Command(ctx, &view.Snapshot, view.Pools, d)
		l.applied.Add(&commanded)
	}
	l.Metrics.Disrupted(&view.Snapshot, d, &l.applied)
	if err != nil {
		return 0, err
	}
	if len(l.applied.Tainted) > 0 {
		return validation, nil
	}
	return l.next(d), nil
}

// validation is how long after its taint a node is decided about again.
const validation = time.Second

// next returns after how long to decide without being woken: when the first node
// becomes due, at most after Every.
func (l *Loop) next(d *decide.Decision) time.Duration {
	wait := l.Every
	if early, ok := l.search.wait(d.Time); ok {
		wait = min(wait, early)
	}
	for i := range d.Disruptions {
		if at := d.Disruptions[i].RetryAt; !at.IsZero() {
			wait = min(wait, max(validation, at.Sub(d.Time)))
		}
	}
	return wait
}
