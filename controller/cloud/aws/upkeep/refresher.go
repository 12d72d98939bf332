package upkeep

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/refresh"
)

// firstAnswers is how long the first decision waits for AWS's first answers. A region
// that answers as usual needs a few seconds.
const firstAnswers = 10 * time.Second

// askSoonest bounds how often a source is looked at.
const askSoonest = time.Second

// Refresher reads the sources of the provider in the background, each on a goroutine of
// its own, and tells people when one is stale. It runs on every replica, so that a new
// leader knows at once; the leader alone writes events.
type Refresher struct {
	Client  client.Client
	Sources *refresh.Sources
	Events  events.EventRecorder
	Leading func() bool
	// Changed is called when there is a new answer.
	Changed func()
	Clock   clock.WithTicker

	mu sync.Mutex
	// told are the sources that people were told are stale.
	told map[string]bool
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*Refresher) NeedLeaderElection() bool { return false }

// Start runs until the context ends.
func (r *Refresher) Start(ctx context.Context) error {
	var done sync.WaitGroup
	for _, each := range r.Sources.All() {
		done.Go(func() { r.keep(ctx, each) })
	}
	done.Wait()
	return nil
}

// Await returns when each source was asked once, at the latest after ten seconds: what
// AWS has not said by then is decided without.
func (r *Refresher) Await(ctx context.Context) {
	timer := r.Clock.NewTimer(firstAnswers)
	defer timer.Stop()
	select {
	case <-r.Sources.Settled():
	case <-timer.C():
		logr.FromContextOrDiscard(ctx).Info("AWS has not said everything yet: decisions begin with what the controller was built with", "waited", firstAnswers.String())
	case <-ctx.Done():
	}
}

// keep reads one source whenever it is due.
func (r *Refresher) keep(ctx context.Context, source *refresh.Source) {
	for ctx.Err() == nil {
		next, changed := r.Sources.Ask(ctx, source)
		if changed {
			r.Changed()
		}
		r.tell(ctx)
		timer := r.Clock.NewTimer(max(askSoonest, next.Sub(r.Clock.Now())))
		select {
		case <-ctx.Done():
		case <-timer.C():
		}
		timer.Stop()
	}
}

// tell writes an event on every class for each source that has become stale, and for each
// that was and is not any more.
func (r *Refresher) tell(ctx context.Context) {
	if !r.Leading() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := map[string]bool{}
	for _, each := range r.Sources.Stale() {
		now[each.What] = true
		if !r.told[each.What] {
			r.announce(ctx, corev1.EventTypeWarning, awsv1.EventMarketStale, each.String()+"; what was read last serves, at first what the controller was built with")
		}
	}
	for what := range r.told {
		if !now[what] {
			r.announce(ctx, corev1.EventTypeNormal, awsv1.EventMarketRefreshed, what+" are read from AWS again")
		}
	}
	r.told = now
}

func (r *Refresher) announce(ctx context.Context, kind, reason, text string) {
	log := logr.FromContextOrDiscard(ctx)
	log.Info(text)
	var classes awsv1.EC2NodeClassList
	if err := r.Client.List(ctx, &classes); err != nil {
		log.Error(err, "write no events about what AWS does not say")
		return
	}
	for i := range classes.Items {
		r.Events.Eventf(&classes.Items[i], nil, kind, reason, "Refresh", "%s", text)
	}
}
