package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/spend"
)

// foreign is called with a stored ledger that this replica has not written. The successor of a
// leader that was paused has counted further than that, and nothing less of the month: its
// ledger is read. Any other comes from an API server that was restored, or from somebody
// who may write ConfigMaps: this replica's own is written over it.
// When it has counted further and has less of the month, nobody knows what is missing: the month
// is in doubt from the next Count.
func (k *Tracker) foreign(ctx context.Context, now *corev1.ConfigMap) error {
	ours, _ := k.readable(k.stored)
	theirs, newer := k.readable(now)
	own := k.ledger.Load()
	k.stored = now
	switch {
	case newer || ours == nil || own == nil:
		return k.adopt()
	case theirs == nil || !theirs.Through.After(ours.Through):
		k.lost(ctx, "the stored ledger was replaced by another one, which no replica has written; it is written again")
		return nil
	case theirs.Month.Equal(ours.Month) && total(theirs) < total(ours)-1e-6:
		next := *own
		next.Doubt = &spend.Doubt{
			Since:  k.Clock.Now().UTC().Truncate(time.Second),
			Reason: fmt.Sprintf("the stored ledger was replaced by one with %.2f $ in place of %.2f $", total(theirs), total(ours)),
		}
		k.ledger.Store(&next)
		k.lost(ctx, "%s; it goes on with %.2f $", next.Doubt.Reason, total(&next))
		return nil
	}
	return k.adopt()
}

// adopt forgets this replica's ledger: the next Count reads the stored one.
func (k *Tracker) adopt() error {
	k.pending = nil
	k.ledger.Store(nil)
	return errOvertaken
}

// readable returns the ledger of a ConfigMap, nil when there is none that can be read. newer says
// that a newer version of the program has written it.
func (k *Tracker) readable(cm *corev1.ConfigMap) (l *spend.Ledger, newer bool) {
	if cm == nil {
		return nil, false
	}
	text, err := k.store(Name).Text(cm)
	if err != nil {
		return nil, false
	}
	kept, err := spend.Decode(text)
	if err != nil {
		return nil, errors.Is(err, spend.ErrNewer)
	}
	return &kept, false
}
