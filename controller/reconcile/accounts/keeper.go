// Package accounts keeps the ledger: it is read from a ConfigMap when this
// replica begins to lead, counts every snapshot that a decision is made on, and
// is written back once a minute. A restart loses nothing: the kept ledger knows
// what ran, and charges it for the time in between.
//
// Not here: the arithmetic (controller/spend).
package accounts

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/spend"
)

const (
	// Name is the ConfigMap in the controller's namespace that holds the
	// ledger.
	Name = "spokeshave-ledger"
	// Key is its only entry: JSON, compressed by gzip.
	Key = "ledger.json.gz"
	// every is how often the ledger is written.
	every = time.Minute
	// limit is how large a ledger may be, decoded. A real one has at most
	// some 2,000 workloads of a hundred bytes or two.
	limit = 16 << 20
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
	if k.Clock.Since(k.saved) < every {
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
	cm := &corev1.ConfigMap{}
	err := k.Live.Get(ctx, types.NamespacedName{Namespace: k.Namespace, Name: Name}, cm)
	switch {
	case apierrors.IsNotFound(err):
		return spend.New(s), nil
	case err != nil:
		return spend.Ledger{}, fmt.Errorf("read ConfigMap %s/%s: %w", k.Namespace, Name, err)
	}
	kept, err := decode(cm.BinaryData[Key])
	if err != nil {
		next := spend.New(s)
		logr.FromContextOrDiscard(ctx).Error(err, "the ledger is begun anew from the running instances", "configMap", Name)
		k.Events.Eventf(cm, nil, corev1.EventTypeWarning, "LedgerLost", "Read",
			"%v; begun anew: %.2f $ estimated from the instances that still run", err, float64(total(&next))/1e6)
		return next, nil
	}
	return kept.Advance(s), nil
}

func total(l *spend.Ledger) int64 {
	sum := l.Total()
	return sum.Micro
}

func (k *Keeper) save(ctx context.Context, l *spend.Ledger) error {
	data, err := encode(l)
	if err != nil {
		return err
	}
	cm := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: Name},
		BinaryData: map[string][]byte{Key: data},
	}
	err = k.Client.Update(ctx, cm)
	if apierrors.IsNotFound(err) {
		err = k.Client.Create(ctx, cm)
	}
	if err != nil {
		return fmt.Errorf("write ConfigMap %s/%s: %w", k.Namespace, Name, err)
	}
	return nil
}

func encode(l *spend.Ledger) ([]byte, error) {
	text, err := l.Encode()
	if err != nil {
		return nil, fmt.Errorf("write ledger: %w", err)
	}
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(text); err != nil {
		return nil, fmt.Errorf("compress ledger: %w", err)
	}
	if err := zip.Close(); err != nil {
		return nil, fmt.Errorf("compress ledger: %w", err)
	}
	return out.Bytes(), nil
}

func decode(data []byte) (spend.Ledger, error) {
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return spend.Ledger{}, fmt.Errorf("decompress ledger: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(zip, limit))
	if err != nil {
		return spend.Ledger{}, fmt.Errorf("decompress ledger: %w", err)
	}
	l, err := spend.Decode(text)
	if err != nil {
		return spend.Ledger{}, fmt.Errorf("decode: %w", err)
	}
	return l, nil
}
