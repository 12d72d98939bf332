// Package rewound ends a controller whose API server went back in time, because etcd was
// restored from an older backup. Watches then go on from a revision that the API server has
// not reached yet: the caches keep what was lost and miss what happens, without any error,
// and only a new process reads everything again.
//
// A restore that raises the revisions, as etcd's documentation advises, is not noticed here:
// watches fail after it, and are begun anew.
package rewound

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// longest is for how long the end of a controller is put off.
const longest = 5 * time.Minute

// Watch compares the revisions that the API server shows one after the other. It runs on
// every replica: one that does not lead yet has the same caches.
type Watch struct {
	// Live reads from the API server.
	Live  client.Reader
	Clock clock.WithTicker
	// Every is how often the revision is read.
	Every time.Duration
	// Ready, when set, reports whether the controller may end: what it alone remembers is on
	// record. The end waits for that, for five minutes at most.
	Ready func(context.Context) bool

	newest uint64
	back   backInTime
}

// backInTime is a revision lower than one before, and when it was found.
type backInTime struct {
	before, now uint64
	found       time.Time
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (*Watch) NeedLeaderElection() bool { return false }

// Start returns an error, which ends the manager, once the API server went back in time.
func (w *Watch) Start(ctx context.Context) error {
	ticker := w.Clock.NewTicker(w.Every)
	defer ticker.Stop()
	for {
		if err := w.look(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C():
		}
	}
}

// look reads the revision, and returns an error once the controller shall end.
func (w *Watch) look(ctx context.Context) error {
	if w.back.found.IsZero() {
		revision, err := w.revision(ctx)
		if err != nil {
			return nil //nolint:nilerr // an API server that is away is no sign
		}
		if revision >= w.newest {
			w.newest = revision
			return nil
		}
		w.back = backInTime{before: w.newest, now: revision, found: w.Clock.Now()}
		logr.FromContextOrDiscard(ctx).Info("the API server went back in time", "revision", revision, "before", w.newest)
	}
	if w.Ready != nil && !w.Ready(ctx) && w.Clock.Since(w.back.found) < longest {
		return nil
	}
	return fmt.Errorf("the API server went back in time, from revision %d to %d: it was restored from a backup, and this controller starts again to read everything anew",
		w.back.before, w.back.now)
}

// revision returns the resource version of a list that the API server makes now: revisions
// of etcd, which grow with every write.
func (w *Watch) revision(ctx context.Context) (uint64, error) {
	var claims karpv1.NodeClaimList
	if err := w.Live.List(ctx, &claims, client.Limit(1)); err != nil {
		return 0, fmt.Errorf("read the API server's revision: %w", err)
	}
	revision, err := strconv.ParseUint(claims.ResourceVersion, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the API server's revision: %w", err)
	}
	return revision, nil
}
