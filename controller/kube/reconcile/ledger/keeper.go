// Package ledger stores the ledger of what nodes have cost. It reads the ledger from a
// ConfigMap when this replica becomes leader, adds every snapshot on which a decision
// is made, and writes the ledger back once a minute. A restart loses nothing: the
// stored ledger lists the nodes that ran, and charges them for the time in between.
//
// The arithmetic is in controller/core/spend.
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

	karpv1 "spokeshave.dev/api/karpenter/v1"
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

// Keeper updates and stores the ledger. Only one goroutine may call Count; any may call
// Collect.
type Keeper struct {
	Client    client.Client
	Live      client.Reader
	Events    events.EventRecorder
	Namespace string
	Clock     clock.PassiveClock

	ledger atomic.Pointer[spend.Ledger]
	saved  time.Time
}

// Count adds the time up to the snapshot to the ledger, and fills in the snapshot's
// Spent and Departed from it. An error means that the ledger could not be read: nothing
// should be launched before it is known what has been spent.
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
		// The next write contains this data too. A restart before that has to estimate
		// one minute more.
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
	k.Events.Eventf(cm, nil, corev1.EventTypeWarning, karpv1.EventLedgerLost, "Read",
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

// save writes the ledger. If it is too large for a ConfigMap, the stored copy has its
// smallest entries merged; the ledger in memory stays complete.
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
