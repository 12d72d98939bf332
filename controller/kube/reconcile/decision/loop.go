// Package decision runs the one loop of the product: take a snapshot, decide,
// apply, look again. Pods, pools, policies and claims wake it; batching lets a
// burst of pods be planned together.
//
// Not here: what is decided (controller/core/decide) and what an application does
// (controller/kube/actuate).
package decision

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/controller/record/journal"
	"spokeshave.dev/controller/record/web"
)

// Policies are the policies in force.
type Policies interface {
	// Policies are in pipeline order.
	Policies() []policy.Policy
	// Contents are what each of them was made of.
	Contents() []policy.Contents
	// Missing names required policies that are not active.
	Missing() []string
}

// Loop decides and applies. It runs on the leader only.
type Loop struct {
	Cluster  *cluster.Cluster
	Actuator *actuate.Actuator
	Policies Policies
	Journal  *journal.Journal
	// Log writes the decisions down that the journal keeps; nil for no log.
	Log     *journal.Log
	Metrics *Metrics
	Clock   clock.Clock
	// Count tells the snapshot what each scope has spent.
	Count func(context.Context, *model.Snapshot) error
	// Await returns when the policies that exist have been loaded or rejected:
	// no decision is made without a budget that is only slow to load.
	Await func(context.Context) error
	// Observed, when set, takes in the decisions of a loop that applies nothing.
	Observed func(context.Context, *model.Snapshot, *decide.Decision) error
	// Board shows every decision on a page; nil where there is none.
	Board *web.Board
	// Idle ends a batch when no pod has come for so long, Max in any case.
	Idle, Max time.Duration
	// Every is how often to look without being woken.
	Every time.Duration

	wake chan struct{}
	caps map[string]map[string]policy.Cap
	// searched is when replacements were last searched for.
	searched time.Time
	// searchTook is how long the decision with the last search took.
	searchTook time.Duration
	// pressing is when money that pods wait for may be found, before the next
	// search is due; zero when none does. short are the scopes that lacked it.
	pressing time.Time
	short    []string
	// settled is what the last application changed: the cache must show it.
	settled actuate.Done
}

// New prepares a loop; the fields of Loop are set by the caller.
func New(l Loop) *Loop {
	l.wake = make(chan struct{}, 1)
	return &l
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (l *Loop) NeedLeaderElection() bool { return true }

// Wake asks for a decision. It never blocks.
func (l *Loop) Wake() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Start runs until the context ends.
func (l *Loop) Start(ctx context.Context) error {
	log := logr.FromContextOrDiscard(ctx).WithName("decision")
	l.Metrics.queue.lead(l.Clock.Now())
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

// wait sleeps until woken or due, then lets the batch fill: until nothing has
// come for Idle, at most Max. It returns false when the context has ended.
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

// Round makes one decision, applies it, and returns when to look again.
func (l *Loop) Round(ctx context.Context) (time.Duration, error) {
	if err := l.Cluster.Seen(ctx, cluster.Change(l.settled)); err != nil {
		l.Metrics.state.failed(l.Clock.Now())
		return 0, err
	}
	l.settled = actuate.Done{}
	start := l.Clock.Now()
	view, err := l.Cluster.Snapshot(ctx)
	if err != nil {
		l.Metrics.state.failed(l.Clock.Now())
		return 0, fmt.Errorf("take snapshot: %w", err)
	}
	if err := l.Count(ctx, &view.Snapshot); err != nil {
		return 0, fmt.Errorf("count what has been spent: %w", err)
	}
	snapshotTook, before := l.Clock.Since(start), l.searched
	opts := decide.Options{
		Missing: l.Policies.Missing(), LastCaps: l.caps, Disrupt: true, Explain: true, Search: l.due(view.Snapshot.Time),
		Elapsed: func() time.Duration { return l.Clock.Since(start) },
	}
	policies, contents := l.Policies.Policies(), l.Policies.Contents()
	l.Metrics.queue.begin()
	d, err := decide.Decide(ctx, &view.Snapshot, policies, opts)
	l.Metrics.queue.end()
	searched := l.made(&d, opts.Search, before)
	l.Metrics.observe(&view.Snapshot, &d, snapshotTook)
	if err != nil {
		return 0, fmt.Errorf("decide: %w", err)
	}
	l.press(&d, searched)
	if d.Caps != nil { // asked: what is not among the answers is gone
		l.caps = d.Caps
	}
	if l.Journal.Add(ctx, &view.Snapshot, &d) {
		l.Log.Add(journal.Decided{Snapshot: &view.Snapshot, Decision: &d, Options: opts, Policies: contents})
	}
	l.Actuator.TellCaps(ctx, &d)
	if l.Board != nil {
		l.Board.Add(&view.Snapshot, &d)
	}
	if l.Observed != nil {
		return l.Every, l.Observed(ctx, &view.Snapshot, &d)
	}
	return l.apply(ctx, view, &d)
}

// due says whether it is time to search for a cheaper cluster again, which
// takes longer than all the rest.
func (l *Loop) due(now time.Time) bool {
	every := searchEvery
	if !l.pressing.IsZero() && !now.Before(l.pressing) {
		every = 0
	}
	if now.Sub(l.searched) < max(every, searchShare*l.searchTook) {
		return false
	}
	l.searched = now
	return true
}

// made says whether the search that was due was made; one that was not stays due,
// since the search before it.
func (l *Loop) made(d *decide.Decision, due bool, before time.Time) bool { //nolint:revive // a fact about the decision
	if !due || d.Postponed {
		l.searched = before
		return false
	}
	l.searchTook = d.Timing.Total
	return true
}

// press brings the next search forward when a cap keeps pods waiting: to now when
// that is new, and else to when a node that could go has been idle for long
// enough.
func (l *Loop) press(d *decide.Decision, searched bool) {
	scopes := d.Short()
	fresh := slices.ContainsFunc(scopes, func(s string) bool { return !slices.Contains(l.short, s) })
	waits := !l.pressing.IsZero() && !l.pressing.After(d.Time)
	l.short = scopes
	switch {
	case len(scopes) == 0:
		l.pressing = time.Time{}
		return
	case !searched && (fresh || waits):
		l.pressing = d.Time
		return
	}
	l.pressing = time.Time{}
	for i := range d.Disruptions {
		each := &d.Disruptions[i]
		if each.Method == decide.MethodUnderutilized && each.RetryAt.After(d.Time) && (l.pressing.IsZero() || each.RetryAt.Before(l.pressing)) {
			l.pressing = each.RetryAt
		}
	}
}

func (l *Loop) apply(ctx context.Context, view *cluster.View, d *decide.Decision) (time.Duration, error) {
	launched, err := l.Actuator.Launch(ctx, &view.Snapshot, view.Pools, d)
	l.settled.Claims = launched.Claims
	l.Metrics.created(&view.Snapshot, d, len(launched.Claims))
	if err != nil {
		return 0, err
	}
	l.Actuator.Tell(&view.Snapshot, view.Pools, d)
	l.Actuator.TellPools(&view.Snapshot, view.Pools, d)
	assigned, err := l.Actuator.Assign(ctx, &view.Snapshot, d)
	l.settled.Add(&assigned)
	if err != nil {
		return 0, err
	}
	disrupted, err := l.Actuator.Disrupt(ctx, &view.Snapshot, d)
	l.settled.Add(&disrupted)
	if err == nil {
		var commanded actuate.Done
		commanded, err = l.Actuator.Command(ctx, &view.Snapshot, view.Pools, d)
		l.settled.Add(&commanded)
	}
	l.Metrics.disrupted(&view.Snapshot, d, &l.settled)
	if err != nil {
		return 0, err
	}
	if len(l.settled.Tainted) > 0 {
		return validation, nil
	}
	return l.next(d), nil
}

// searchEvery is how often the whole cluster is searched, as in Karpenter.
const searchEvery = 10 * time.Second

// searchShare bounds the time spent searching, in which pods that come have to
// wait: one part in so many.
const searchShare = 20

// validation is how long after its taint a node is judged again.
const validation = time.Second

// next is when to look without being woken: at the first moment a node comes
// due, and every so often in any case.
func (l *Loop) next(d *decide.Decision) time.Duration {
	wait := l.Every
	if !l.pressing.IsZero() {
		wait = min(wait, max(0, l.pressing.Sub(d.Time), searchShare*l.searchTook-d.Time.Sub(l.searched)))
	}
	for i := range d.Disruptions {
		if at := d.Disruptions[i].RetryAt; !at.IsZero() {
			wait = min(wait, max(validation, at.Sub(d.Time)))
		}
	}
	return wait
}
