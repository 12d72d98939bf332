// Package comparison stores what a controller in mode Observe has recorded. It reads
// the comparison from a ConfigMap when this replica becomes leader, and writes it back
// every few minutes, so that a month of data survives restarts.
//
// What is compared is in controller/record/observe.
package comparison

import (
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/reconcile/configmap"
	"spokeshave.dev/controller/record/observe"
)

const (
	// Name is the ConfigMap in the controller's namespace that holds the comparison.
	Name = "spokeshave-observed"
	// Key is its only entry: JSON, compressed by gzip.
	Key = "observed.json.gz"
	// writeInterval is how often it is written. It is shorter than the longest gap
	// between two decisions that package observe still counts, so that a quick restart
	// loses nothing.
	writeInterval = 4 * time.Minute
)

// Tracker passes decisions to the Observer and stores its data. Only one goroutine may
// call Add.
type Tracker struct {
	Store    configmap.Store
	Observer *observe.Observer
	Events   events.EventRecorder
	Clock    clock.PassiveClock

	loaded bool
	saved  time.Time
}

// Add records a decision that is not applied. An error means that the stored data could
// not be read; the stored data is then left as it is.
func (k *Tracker) Add(ctx context.Context, s *model.Snapshot, d *decide.Decision) error {
	if !k.loaded {
		if err := k.load(ctx); err != nil {
			return err
		}
		k.loaded, k.saved = true, k.Clock.Now()
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
		// The next write contains this data too.
		logr.FromContextOrDiscard(ctx).Error(err, "what was observed is written later")
	}
	return nil
}

func (k *Tracker) load(ctx context.Context) error {
	text, cm, err := k.Store.Read(ctx)
	if err == nil && text != nil {
		if err = k.Observer.Decode(text); err != nil {
			err = errors.Join(configmap.ErrCorrupt, err)
		}
	}
	if errors.Is(err, configmap.ErrCorrupt) {
		logr.FromContextOrDiscard(ctx).Error(err, "the comparison is begun anew", "configMap", Name)
		k.Events.Eventf(cm, nil, corev1.EventTypeWarning, karpv1.EventObservationLost, "Read", "%v; begun anew", err)
		return nil
	}
	return err
}
