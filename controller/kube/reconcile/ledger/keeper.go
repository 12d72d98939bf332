// Package ledger keeps the ledger: it is read from a ConfigMap when this
// replica begins to lead, counts every snapshot that a decision is made on, and
// is written back once a minute. A restart loses nothing: the kept ledger knows
// what ran, and charges it for the time in between.
//
// Not here: the arithmetic (controller/core/spend).
package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/configmap"
)

const (
	// Name is the ConfigMap in the controller's namespace that holds the
	// ledger.
	Name = "spokeshave-ledger"
	// Key is its only entry: JSON, compressed by gzip.
	Key = "ledger.json.gz"
	// writeInterval is how often the ledger is written.
	writeInterval = time.Minute
)

// Keeper counts. Count is called by one goroutine, Collect by any.
type Keeper struct {
	Client    client.Client
	Live      client.Reader
	Events    events.EventRecorder
	Namespace string
	Clock     clock.PassiveClock

	ledger atomic.Pointer[spend.Ledger]
	saved  time.Time
}

// Count brings the ledger up to the snapshot's time, and the snapshot's Spent
// and Departed up to the ledger. An error says that the ledger could not be read: nothing
// should be bought before it is known what has been spent.
func (k *Keeper) Count(ctx context.Context, s *model.Snapshot) error {
	next, err := k.next(ctx, s)
	if err != nil {
		return err
	}
	k.ledger.Store(&next)
	s.Spent, s.Departed = next.Scopes(), next.Departed
	if k.Clock.Since(k.saved) < writeInterval {
		return nil
	}
	if err := k.save(ctx, &next); err != nil {
		// What is not written now is written later; only a restart before
		// that would estimate a minute more.
		logr.FromContextOrDiscard(ctx).Error(err, "the ledger is written later")
	}
	k.saved = k.Clock.Now()
	return nil
}

func (k *Keeper) next(ctx context.Context, s *model.Snapshot) (spend.Ledger, error) {
	if now := k.ledger.Load(); now != nil {
		return now.Advance(s), nil
	}
	store := k.store()
	text, cm, err := store.Read(ctx)
	if err == nil && text == nil {
		return spend.New(s), nil
	}
	var kept spend.Ledger
	if err == nil {
		if kept, err = spend.Decode(text); err == nil {
			return kept.Advance(s), nil
		}
		err = fmt.Errorf("decode: %w: %w", configmap.ErrCorrupt, err)
	}
	if !errors.Is(err, configmap.ErrCorrupt) {
		return spend.Ledger{}, err
	}
	next := spend.New(s)
	logr.FromContextOrDiscard(ctx).Error(err, "the ledger is begun anew from the running instances", "configMap", Name)
	k.Events.Eventf(cm, nil, corev1.EventTypeWarning, "LedgerLost", "Read",
		"%v; begun anew: %.2f $ estimated from the instances that still run", err, float64(total(&next))/1e6)
	return next, nil
}

func (k *Keeper) store() *configmap.Store {
	return &configmap.Store{Client: k.Client, Live: k.Live, Namespace: k.Namespace, Name: Name, Key: Key}
}

func total(l *spend.Ledger) int64 {
	sum := l.Total()
	return sum.Micro
}

// save writes the ledger. What does not fit into a ConfigMap is kept with fewer
// entries, the smallest joined; what is in memory stays as it is.
func (k *Keeper) save(ctx context.Context, l *spend.Ledger) error {
	for entries := max(len(l.Holders), len(l.Pools)); ; entries /= 2 {
		kept := l.Trim(entries)
		text, err := kept.Encode()
		if err != nil {
			return fmt.Errorf("write ledger: %w", err)
		}
		if err = k.store().Write(ctx, text); entries == 0 || !errors.Is(err, configmap.ErrTooLarge) {
			return err
		}
	}
}
