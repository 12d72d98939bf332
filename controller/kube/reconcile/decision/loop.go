// Package decision runs the decision loop: take a snapshot of the cluster, decide,
// apply the decision, and wait for a reason to decide again. Changes of pods,
// NodePools, policies and NodeClaims wake the loop. Pods that arrive shortly after each
// other are batched, so that they are planned together.
//
// Decisions are made in controller/core/decide and applied in controller/kube/actuate.
package decision

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/core/crash"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/reconcile/batch"
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
	// Suspended returns the policies that an administrator has suspended, sorted.
	Suspended() []policy.Suspension
}

// Config is what a [Loop] works with. Fields without a comment are required.
//
// Size: one field for each part of the controller that the loop calls.
type Config struct {
	Cluster  *cluster.Cluster
	Actuator *actuate.Actuator
	Policies Policies
	Journal  *journal.Journal
	// Failures keeps the decisions that met a defect; nil for none.
	Failures *journal.Failures
	// Log receives the decisions that the journal keeps; nil for no log.
	Log     *journal.Log
	Metrics *metric.Decisions
	Clock   clock.Clock
	// CountSpend writes into the snapshot what each scope has spent this month.
	CountSpend func(context.Context, *model.Snapshot) error
	// CountSaved records the consolidations that a decision carries out, which is none in mode
	// Observe; nil for no record.
	CountSaved func(*model.Snapshot, *decide.Decision)
	// Await returns once all existing policies have been loaded or rejected, so that no
	// decision is made without a budget that is merely slow to load.
	Await func(context.Context) error
	// Observed, when set, receives every decision, and the loop applies none.
	Observed func(context.Context, *model.Snapshot, *decide.Decision) error
	// Board shows the decisions on a web page; nil for no page.
	Board *web.Board
	// Idle is the longest that a batch waits for another pod ([batch.Window]). Max ends it in
	// any case.
	Idle, Max time.Duration
	// Rollout is for how long the pods of new workloads wait for those of others that have
	// yet to create one ([lower.Rollout]); 0 for not.
	Rollout time.Duration
	// Every is how often to decide without being woken.
	Every time.Duration
}

// Loop decides and applies. It runs on the leader only.
type Loop struct {
	Config

	wake    chan struct{}
	batches batches
	// beginning is how many pods of new workloads follow those of the last batch ([lower.Rollout]).
	beginning int
	// apart is until when new workloads do not wait for each other, because they share no nodes.
	apart time.Time
	// caps are the last caps that the policies returned, by scope and policy.
	caps   map[string]map[string]policy.Cap
	search searchSchedule
	// applied is what the last application wrote. The next snapshot is taken once the
	// watch cache shows it.
	applied cluster.Change
	holds   holds
	turns   turns
	// failures counts the rounds in a row that failed.
	failures int
	progress progress
}

// New returns a loop that [Loop.Start] runs.
func New(c Config) *Loop {
	l := &Loop{Config: c, wake: make(chan struct{}, 1)}
	l.batches.window = batch.Window{Idle: c.Idle, Max: c.Max}
	return l
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (l *Loop) NeedLeaderElection() bool { return true }

// Wake requests a decision because something has changed. It never blocks.
func (l *Loop) Wake() {
	l.batches.change(l.Clock.Now())
	l.signal()
}

// Arrived requests a decision because a pod waits for a node. It never blocks. owner is the
// UID of an owner that says how many pods it will have, "" for none. planned says that
// places are planned for all of these.
func (l *Loop) Arrived(owner types.UID, planned bool) {
	l.batches.arrive(l.Clock.Now(), owner, planned)
	l.signal()
}

func (l *Loop) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Start runs until the context ends.
func (l *Loop) Start(ctx context.Context) error {
	log := logr.FromContextOrDiscard(ctx).WithName("decision")
	l.Metrics.Lead(l.Clock.Now())
	l.progress.step(l.Clock.Now())
	if err := l.Await(ctx); err != nil {
		return err
	}
	l.progress.end()
	next := time.Duration(0)
	for l.wait(ctx, next) {
		l.progress.step(l.Clock.Now())
		err := crash.Do(func() (err error) {
			next, err = l.Round(ctx)
			return err
		})
		l.progress.end()
		if err == nil {
			l.failures = 0
			continue
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the round ended with the context
		}
		next = 0
		pause := l.failed(err)
		log.Error(err, "the round is made again", "after", pause.String(), "stack", crash.Stack(err))
		if !rest(ctx, l.Clock, pause) {
			return nil
		}
	}
	return nil
}

// failed counts a round that failed, and returns for how long the loop rests: twice as
// long after each further failure, longer after a panic than after an error, which is
// mostly that the API server does not answer.
func (l *Loop) failed(err error) time.Duration {
	l.failures++
	kind, pause := decide.Errored, backoff{time.Second, 8 * time.Second}
	if crash.Stack(err) != "" {
		kind, pause.most = decide.Panicked, time.Minute
	}
	l.Metrics.Failed(kind, metric.Round)
	return pause.after(l.failures)
}

// rest waits, whatever wakes the loop. It returns false when the context has ended.
func rest(ctx context.Context, c clock.Clock, pause time.Duration) bool {
	timer := c.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C():
		return true
	}
}

// Busy returns for how long the loop has been at the same step of its work; 0 while it
// waits for a reason to decide.
func (l *Loop) Busy() time.Duration { return l.progress.busy(l.Clock.Now()) }

// wait sleeps until the loop is woken or due has passed. When it was woken, it then waits
// until the batch ends. It returns false when the context has ended.
func (l *Loop) wait(ctx context.Context, due time.Duration) bool {
	defer func() {
		l.batches.close()
		l.beginning = l.following()
	}()
	woken, alive := l.sleep(ctx, due)
	for woken && alive {
		left := l.batches.left(l.Clock.Now())
		if left == 0 {
			left = l.batches.hold(l.Clock.Now(), l.starting)
		}
		if left == 0 {
			return true
		}
		// Events in between may have moved the end.
		_, alive = l.sleep(ctx, left)
	}
	return alive
}

// sleep waits until the loop is woken or the time has passed. alive is false when the
// context has ended.
func (l *Loop) sleep(ctx context.Context, most time.Duration) (woken, alive bool) {
	timer := l.Clock.NewTimer(most)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false, false
	case <-timer.C():
		return false, true
	case <-l.wake:
		return true, true
	}
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
	view, err := l.snapshot(ctx)
	if err != nil {
		l.Metrics.SnapshotFailed(l.Clock.Now())
		return 0, fmt.Errorf("take snapshot: %w", err)
	}
	if err := l.CountSpend(ctx, &view.Snapshot); err != nil {
		return 0, fmt.Errorf("count what has been spent: %w", err)
	}
	l.progress.step(l.Clock.Now())
	held := l.holds.apply(view)
	now := view.Snapshot.Time
	snapshotTook, before := l.Clock.Since(start), l.search.last
	opts := decide.Options{
		Missing: l.Policies.Missing(), Suspended: l.Policies.Suspended(), LastCaps: l.caps, Explain: true, Elapsed: func() time.Duration { return l.Clock.Since(start) },
		Disrupt: !now.Before(l.holds.disruption.until),
	}
	opts.Search = l.holds.searchIn(now) == 0 && l.search.due(now, searchInterval(l.beginning, &view.Snapshot))
	policies, contents := l.Policies.Policies(), l.Policies.Contents()
	behind := false
	if l.Observed == nil {
		if behind, err = l.settle(ctx, view); err != nil {
			return 0, err
		}
		left, err := l.planUnplanned(ctx, view, policies, opts)
		if err != nil {
			return 0, err
		}
		behind = behind || left
	}
	l.Metrics.Begin()
	d := decide.Try(ctx, &view.Snapshot, policies, opts)
	l.Metrics.End()
	l.progress.step(l.Clock.Now())
	searched := l.search.record(&d, opts.Search, before)
	decided := journal.Decided{Snapshot: &view.Snapshot, Decision: &d, Options: opts, Policies: contents}
	if err := l.report(ctx, decided); err != nil {
		return 0, err
	}
	l.Metrics.Observe(&view.Snapshot, &d, snapshotTook)
	l.Metrics.Held(held)
	l.search.expedite(&d, searched)
	if d.Caps != nil { // the policies were called: a cap that they did not return is gone
		l.caps = d.Caps
	}
	if l.Journal.Add(ctx, &view.Snapshot, &d) && len(d.Failures) == 0 {
		l.Log.Add(decided)
	}
	l.Actuator.Reporter.TellCaps(ctx, &d)
	l.Actuator.Reporter.TellWarnings(ctx, now, view.Warnings)
	if l.Board != nil {
		l.Board.Add(&view.Snapshot, &d)
	}
	if l.Observed != nil {
		return min(l.Every, l.rolloutWait(&view.Snapshot)), l.Observed(ctx, &view.Snapshot, &d)
	}
	if l.CountSaved != nil {
		l.CountSaved(&view.Snapshot, &d)
	}
	return l.apply(ctx, view, &d, behind)
}

// report logs, counts and keeps the failures of a decision, and holds what they are about.
// It returns an error when nothing was decided.
func (l *Loop) report(ctx context.Context, in journal.Decided) error {
	d := in.Decision
	l.holds.failed(&in)
	if len(d.Failures) == 0 {
		return nil
	}
	log := logr.FromContextOrDiscard(ctx)
	for i := range d.Failures {
		f := &d.Failures[i]
		l.Metrics.Failed(f.Kind, f.Part)
		log.Error(errDefect, "a part of a decision failed; spokeshave failures prints it for replay",
			"kind", f.Kind, "part", f.Part, "message", f.Message, "pods", len(f.Pods), "stack", f.Stack)
	}
	l.Failures.Add(ctx, in)
	l.Log.Add(in)
	if d.ID == "" {
		return fmt.Errorf("decide: %w: %s", errDefect, d.Failures[len(d.Failures)-1].Message)
	}
	return nil
}

// errDefect says that this program is wrong.
var errDefect = errors.New("a defect in Spokeshave")

// validation is how long after its taint a node is decided about again.
const validation = time.Second

// bindingCheck is how long after a decision it is seen whether the scheduler has bound the
// pods that nodes wait for. Nothing else tells of a pod that was bound elsewhere.
const bindingCheck = 2 * time.Second

// bindingWait returns bindingCheck while a node that accepts pods waits for some, and every
// otherwise.
func bindingWait(s *model.Snapshot, every time.Duration) time.Duration {
	if slices.ContainsFunc(s.Nodes, func(n model.Node) bool { return n.Nominated && n.State == model.Initialized }) {
		return bindingCheck
	}
	return every
}

// next returns after how long to decide without being woken: when the first node
// becomes due, at most after Every.
func (l *Loop) next(d *decide.Decision) time.Duration {
	wait := l.Every
	if early, ok := l.search.wait(d.Time); ok {
		wait = min(wait, max(early, l.holds.searchIn(d.Time)))
	}
	if held, ok := l.holds.wait(d.Time); ok {
		wait = min(wait, max(validation, held))
	}
	for i := range d.Disruptions {
		if at := d.Disruptions[i].RetryAt; !at.IsZero() {
			wait = min(wait, max(validation, at.Sub(d.Time)))
		}
	}
	return wait
}
