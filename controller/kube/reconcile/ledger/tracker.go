// Package ledger stores the ledger of what nodes have cost. It reads the ledger from a
// ConfigMap when this replica becomes leader, adds every snapshot on which a decision
// is made, and writes the ledger back once a minute. A restart loses nothing: the
// stored ledger lists the nodes that ran, and charges them for the time in between.
//
// Days that have ended go to twelve ConfigMaps, one for each month of a year.
//
// A second ConfigMap keeps an earlier ledger, at most an hour old, from which a lost or
// damaged one is restored. While it is not certain what the month has cost, because no
// earlier ledger helps or because this machine's clock differs from the API server's,
// the snapshot says so, and monthly caps let nothing through.
//
// The arithmetic is in controller/core/spend.
package ledger

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/configmap"
)

const (
	// Name is the ConfigMap in the controller's namespace that holds the
	// ledger.
	Name = spend.LedgerName
	// PreviousName is the ConfigMap that holds an earlier ledger.
	PreviousName = "spokeshave-ledger-previous"
	// Key is the only entry of each: JSON, compressed by gzip.
	Key = spend.LedgerKey
	// writeInterval is how often the ledger is written, previousInterval how often the
	// earlier one.
	writeInterval    = time.Minute
	previousInterval = time.Hour
	// refusedInterval is how often the ledger is written while the API server refuses it.
	refusedInterval = 10 * time.Second
	// monthKept is for how long after the end of a month its last ledger stays the
	// earlier one.
	monthKept = 24 * time.Hour
)

// Tracker updates and stores the ledger. Only one goroutine may call Count and CountSaved; any may
// call Collect.
//
// Size: the methods are the steps of reading, doubting, adding and writing one ledger.
type Tracker struct {
	Client    client.Client
	Live      client.Reader
	Events    events.EventRecorder
	Namespace string
	Clock     clock.PassiveClock
	// ClockTolerance is how far this machine's clock may be from the API server's. 0
	// means that they are not compared.
	ClockTolerance time.Duration
	// Restored, when set, returns when it was found last that the API server went back in time, zero
	// for never, and when this process had seen it last before that, zero when it had not.
	Restored func() (found, good time.Time)

	ledger atomic.Pointer[spend.Ledger]
	// stored is the ledger's ConfigMap as it was read or written last, nil for none.
	stored *corev1.ConfigMap
	// unanswered is the record of the last write that was not answered, and may have been carried out; nil for
	// none.
	unanswered []byte
	// newer is the doubt while stored was written by a newer version of the program, nil
	// otherwise. Nothing is overwritten then, and the doubt does not end with the month.
	newer *spend.Doubt
	saved time.Time
	// read is when the ledger was read that this process goes on with.
	read time.Time
	// copied is when the earlier ledger was written last, as of the ledger. pending is
	// the ledger that has to become the earlier one, nil for none.
	copied  time.Time
	pending *spend.Ledger
	clock   clockState
	// refused is why the API server refused the last write of the ledger for good, "" while it
	// does not. tried is when it was last written, or refused.
	refused string
	tried   time.Time
	// unstored is the doubt about a ledger that was read and is older than nodes that were launched; nil for none.
	unstored *spend.Doubt
	// raised is the doubt that rewound has raised, until it turns out to be none; nil for none.
	raised *spend.Doubt
	// losses say what the Count that runs has found to be lost. reported is set while it repeats one that failed
	// after it had reported them.
	losses   []string
	reported bool
	// looked is when stored was last read for an acceptance.
	looked time.Time
	// doubtful says for Collect whether the last snapshot has a SpentDoubt.
	doubtful atomic.Bool
	// urgent says that the ledger is to be stored at the next Count, accepted is the one that was
	// stored last.
	urgent   atomic.Bool
	accepted atomic.Pointer[spend.Ledger]
	// lostAt is when this process last found that the ledger was lost, in seconds since 1970; 0 for never.
	lostAt atomic.Int64
}

// Count adds the time up to the snapshot to the ledger, and fills in the snapshot's
// Spent, SpentDoubt and Departed from it. An error means that the ledger could not be
// read: nothing should be launched before it is known what has been spent. That the API server
// refuses the ledger for good is no error, but a doubt.
func (k *Tracker) Count(ctx context.Context, s *model.Snapshot) error {
	k.losses = nil
	now, err := k.current(ctx, s)
	if err != nil {
		return err
	}
	if !k.reported { // before anything is written that would hide it from another process
		k.reported = len(k.losses) > 0
		k.report(ctx)
	}
	k.losses = nil
	if err := k.checkClock(ctx, &now, s.Time); err != nil && !configmap.Refused(err) {
		return err
	}
	k.reported = false
	// While the ledger is refused, the clock cannot be compared: what was counted is not given up for a clock that is behind.
	if k.clock.wrong() || k.refused != "" && now.Through.Sub(s.Time) > stepTolerance {
		k.publish(&now, s)
		return nil
	}
	if now, err = k.restoreFromFuture(ctx, now, s); err != nil {
		return err
	}
	k.accept(ctx, &now)
	next := now.Advance(s)
	if k.newer != nil {
		next.Doubt = k.newer
	}
	if next.Month.After(now.Month) {
		k.pending = &now
	}
	if next.Doubt == nil {
		next.Doubt = k.unstored
	}
	k.unstored = nil
	k.rewound(&next, s)
	k.report(ctx)
	k.publish(&next, s)
	if !k.due() {
		return nil
	}
	refused := k.refused
	err = k.save(ctx, &next)
	if k.refused != refused { // the doubt begins or ends
		k.publish(&next, s)
	}
	switch {
	case err == nil:
		k.urgent.Store(false)
		k.accepted.Store(&next)
		if err := k.file(ctx, &next); err != nil {
			logr.FromContextOrDiscard(ctx).Error(err, "days that have ended stay in the ledger until the history is written")
		}
	case k.refused == "": // that it is refused, package configmap logs
		// The next write contains this data too. A restart before that has to estimate
		// one minute more.
		logr.FromContextOrDiscard(ctx).Error(err, "the ledger is written later")
	}
	k.saved = k.Clock.Now()
	return nil
}

// Recorded reports whether a ledger was stored that ends at or after a moment, and takes into account what was
// found at another, zero for nothing, about the API server's past. Until it is, it is stored by the next Count. Any
// goroutine may call it.
func (k *Tracker) Recorded(since, restored time.Time) bool {
	if l := k.accepted.Load(); l != nil && !l.Through.Before(since) && !l.Restored.Before(restored) {
		return true
	}
	k.urgent.Store(true)
	return false
}

// due reports whether the ledger is to be written.
func (k *Tracker) due() bool {
	if k.refused != "" {
		return k.Clock.Since(k.tried).Abs() >= refusedInterval
	}
	return k.stored == nil || k.urgent.Load() || k.Clock.Since(k.saved) >= writeInterval
}

// CountSaved adds what a decision carries out to the consolidations of its day. They are
// stored with the next Count that writes.
func (k *Tracker) CountSaved(s *model.Snapshot, d *decide.Decision) {
	now := k.ledger.Load()
	if now == nil {
		return
	}
	next := *now
	for _, c := range d.Consolidations(s) {
		next = next.Save(c.Key, s.Time, c.Savings)
	}
	k.ledger.Store(&next)
}

// publish makes the ledger that of Collect and of the snapshot.
func (k *Tracker) publish(l *spend.Ledger, s *model.Snapshot) {
	k.ledger.Store(l)
	s.Spent, s.Departed, s.SpentDoubt = l.Scopes(), l.Departed, k.doubt(l)
	k.doubtful.Store(s.SpentDoubt != "")
}

// Latest returns the ledger as of the latest snapshot, nil before the first one. It must
// not be changed.
func (k *Tracker) Latest() *spend.Ledger { return k.ledger.Load() }

func (k *Tracker) store(name string) *configmap.Store {
	return &configmap.Store{Client: k.Client, Live: k.Live, Namespace: k.Namespace, Name: name, Key: Key}
}

func total(l *spend.Ledger) float64 {
	sum := l.Total()
	return sum.USD()
}
