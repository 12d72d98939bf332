package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/spend"
)

// errForeign says that the stored ledger has less in it than this replica stored.
var errForeign = errors.New("the stored ledger was replaced by one that has less of the month; the month is in doubt")

// foreign is called with a stored ledger that this replica has not written. The successor of a
// leader that was paused has counted further than that, and nothing less of the month: its
// ledger is read. Any other comes from an API server that was restored, or from somebody
// who may write ConfigMaps: this replica's own is written over it.
// When it has counted further and has less of the month, nobody knows what is missing.
func (k *Tracker) foreign(ctx context.Context, now *corev1.ConfigMap) error {
	was, is := k.stored, now
	k.stored = now
	theirs, err := k.decode(is)
	if errors.Is(err, spend.ErrNewer) {
		return k.adopt()
	}
	ours, oursErr := k.decode(was)
	own := k.ledger.Load()
	switch {
	case oursErr != nil || own == nil:
		return k.adopt()
	case err != nil || !theirs.Through.After(ours.Through):
		k.lost(ctx, "the stored ledger was replaced by another one, which no replica has written; it is written again")
		return nil
	case theirs.Month.Equal(ours.Month) && total(&theirs) < total(&ours)-1e-6:
		next := *own
		next.Doubt = &spend.Doubt{
			Since:  k.Clock.Now().UTC().Truncate(time.Second),
			Reason: fmt.Sprintf("the stored ledger was replaced by one with %.2f $ in place of %.2f $", total(&theirs), total(&ours)),
		}
		k.ledger.Store(&next)
		k.lost(ctx, "%s; it goes on with %.2f $", next.Doubt.Reason, total(&next))
		return errForeign
	}
	return k.adopt()
}

// adopt forgets this replica's ledger: the next Count reads the stored one.
func (k *Tracker) adopt() error {
	k.pending = nil
	k.ledger.Store(nil)
	return errOvertaken
}

// decode reads the ledger of a ConfigMap.
func (k *Tracker) decode(cm *corev1.ConfigMap) (spend.Ledger, error) {
	if cm == nil {
		return spend.Ledger{}, errors.New("there is none")
	}
	text, err := k.store(Name).Text(cm)
	if err != nil {
		return spend.Ledger{}, err
	}
	return spend.Decode(text)
}
