// Package comparison keeps what a controller in mode Observe has seen: the
// comparison is read from a ConfigMap when this replica begins to lead, and
// written back every few minutes, so that a month of it survives restarts.
//
// Not here: what is compared (controller/record/observe).
package comparison

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/reconcile/configmap"
	"spokeshave.dev/controller/record/observe"
)

const (
	// Name is the ConfigMap in the controller's namespace that holds what was
	// seen.
	Name = "spokeshave-observed"
	// Key is its only entry: JSON, compressed by gzip.
	Key = "observed.json.gz"
	// writeInterval is how often it is written. It is less than the longest time between
	// two looks that counts (observe), so that a quick restart loses nothing.
	writeInterval = 4 * time.Minute
)

// Keeper adds up. Add is called by one goroutine.
type Keeper struct {
	Store    configmap.Store
	Observer *observe.Observer
	Events   events.EventRecorder
	Clock    clock.PassiveClock

	begun bool
	saved time.Time
}

// Add takes in a decision that is not applied. An error says that what was seen
// before could not be read: it must not be written over.
func (k *Keeper) Add(ctx context.Context, s *model.Snapshot, d *decide.Decision) error {
	if !k.begun {
		if err := k.begin(ctx); err != nil {
			return err
		}
		k.begun, k.saved = true, k.Clock.Now()
	}
	k.Observer.Add(s, d)
	if k.Clock.Since(k.saved) < writeInterval {
		return nil
	}
	k.saved = k.Clock.Now()
	text, err := k.Observer.Encode()
	if err == nil {
		err = k.Store.Write(ctx, text)
	}
	if err != nil {
		// What is not written now is written later.
		logr.FromContextOrDiscard(ctx).Error(err, "what was observed is written later")
	}
	return nil
}

func (k *Keeper) begin(ctx context.Context) error {
	text, cm, err := k.Store.Read(ctx)
	if err == nil && text != nil {
		if err = k.Observer.Decode(text); err != nil {
			err = errors.Join(configmap.ErrCorrupt, err)
		}
	}
	if errors.Is(err, configmap.ErrCorrupt) {
		logr.FromContextOrDiscard(ctx).Error(err, "the comparison is begun anew", "configMap", Name)
		k.Events.Eventf(cm, nil, corev1.EventTypeWarning, "ObservationLost", "Read", "%v; begun anew", err)
		return nil
	}
	return err
}
