// Package rewound ends a controller whose API server went back in time, because etcd was
// restored from an older backup. Watches then go on from a revision that the API server has
// not reached yet: the caches keep what was lost and miss what happens, without any error,
// and only a new process reads everything again.
//
// Three things tell: a revision lower than one before, for as long as the restored API server
// has not caught up; a record of package breaker of a lower revision than one before; and what
// another replica has found and put on that record. A record that was edited, deleted or
// written by another clock has a higher revision, and tells nothing. Not noticed is a backup that
// has the newest record already, when the revisions have caught up before the next look.
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
	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/reconcile/configmap"
)

// refusedFor is for how long a refusal may pass: an API server that starts forbids everything until it
// has read who may do what.
const refusedFor = time.Minute

// longest is for how long the end of a controller is put off.
const longest = 5 * time.Minute

// Watch looks whether the API server went back in time. It runs on every replica: one that
// does not lead yet has the same caches.
type Watch struct {
	// Live reads from the API server.
	Live  client.Reader
	Clock clock.WithTicker
	// Namespace is where the record is.
	Namespace string
	// Every is how often is looked.
	Every time.Duration
	// Ready, when set, reports whether the controller may end: what it alone remembers is on
	// record since the moment at which it was found. The end waits for that, for five minutes at most.
	Ready func(ctx context.Context, found time.Time) bool
	// Tell, when set, puts on record what this replica alone may have found: the API server was as ever
	// at the moment good, when the record had the mark known. The end waits for that as well.
	Tell func(ctx context.Context, known, good time.Time) error

	last moment
	// why says what was found, at the moment found. own says that this replica has seen it itself, told
	// that this is on record.
	why       string
	found     time.Time
	own, told bool
}

// moment is a point of the API server's history: its revision, that of the record, 0 for none,
// and what the record says.
type moment struct {
	revision, record uint64
	restored         time.Time
	// at is when this was read.
	at time.Time
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

// look returns an error once the controller shall end.
func (w *Watch) look(ctx context.Context) error {
	if w.why == "" {
		now, err := w.read(ctx)
		if err != nil {
			return nil //nolint:nilerr // an API server that is away is no sign
		}
		if w.why, w.own = w.last.before(now); w.why == "" {
			w.last = now
			return nil
		}
		w.found = w.Clock.Now()
		logr.FromContextOrDiscard(ctx).Info("the API server went back in time", "because", w.why)
	}
	if !w.settled(ctx) && w.Clock.Since(w.found) < longest {
		return nil
	}
	return fmt.Errorf("the API server went back in time: %s; this controller ends, to be started again and read everything anew", w.why)
}

// settled reports whether what this process has found and remembers is on record.
func (w *Watch) settled(ctx context.Context) bool {
	if w.own && !w.told && w.Tell != nil {
		err := w.Tell(ctx, w.last.restored, w.last.at)
		if lasting := configmap.Refused(err) && w.Clock.Since(w.found) >= refusedFor; err != nil && !lasting {
			logr.FromContextOrDiscard(ctx).Error(err, "that the API server went back in time is put on record later")
			return false
		}
	}
	w.told = true
	return w.Ready == nil || w.Ready(ctx, w.found)
}

// before says why now is not after m, "" when it may be, and whether it was seen by comparing them, and not by another
// replica. Nothing is before the zero moment.
func (m moment) before(now moment) (why string, own bool) {
	switch {
	case m.revision == 0:
		return "", false
	case now.revision < m.revision:
		return fmt.Sprintf("its revision is %d, and was %d", now.revision, m.revision), true
	case now.record != 0 && now.record < m.record:
		return fmt.Sprintf("what breakers remember is of revision %d, and was of %d", now.record, m.record), true
	case now.restored.After(m.restored):
		return "a replica found at " + now.restored.Format(time.RFC3339) + " that it was restored from a backup", false
	}
	return "", false
}

// read reads where the API server is. The resource version of a list is etcd's revision,
// which grows with every write.
func (w *Watch) read(ctx context.Context) (out moment, err error) {
	out.at = w.Clock.Now()
	var claims karpv1.NodeClaimList
	if err := w.Live.List(ctx, &claims, client.Limit(1)); err != nil {
		return out, fmt.Errorf("read the API server's revision: %w", err)
	}
	if out.revision, err = strconv.ParseUint(claims.ResourceVersion, 10, 64); err != nil {
		return out, fmt.Errorf("read the API server's revision: %w", err)
	}
	out.record, out.restored, err = breaker.Marks(ctx, w.Live, w.Namespace)
	return out, err
}
