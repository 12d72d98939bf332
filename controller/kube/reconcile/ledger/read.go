package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/controller/kube/reconcile/configmap"
)

// current returns the ledger to which the snapshot is added: the one in memory, else the
// stored one, else an earlier one, else a new one. A new ledger is in doubt when there
// must have been one before, as nodes or the history show. The error says that the API server does not answer.
func (k *Tracker) current(ctx context.Context, s *model.Snapshot) (spend.Ledger, error) {
	if now := k.ledger.Load(); now != nil {
		return *now, nil
	}
	text, cm, err := k.store(Name).Read(ctx)
	if err != nil && !errors.Is(err, configmap.ErrCorrupt) {
		return spend.Ledger{}, err
	}
	k.stored, k.newer, k.read = cm, nil, k.Clock.Now()
	var kept spend.Ledger
	if err == nil && cm != nil {
		if kept, err = spend.Decode(text); err == nil {
			if earlier, err := k.earlier(ctx, s.Time); err == nil && earlier != nil {
				k.copied = earlier.Through
			}
			return kept, k.overtaken(ctx, &kept, s)
		}
	}
	if errors.Is(err, spend.ErrNewer) {
		next, beginErr := k.anew(ctx, k.begin(s, err.Error()))
		k.newer = next.Doubt
		return next, beginErr
	}
	earlier, readErr := k.earlier(ctx, s.Time)
	switch {
	case readErr != nil:
		return spend.Ledger{}, readErr
	case earlier != nil:
		k.found("%s; it continues from the one of %s", why(err), earlier.Through.Format(time.RFC3339))
		return *earlier, k.overtaken(ctx, earlier, s)
	case err != nil || established(s):
		return k.anew(ctx, k.begin(s, why(err)))
	}
	counted, err := k.counted(ctx, s.Time)
	switch {
	case err != nil:
		return spend.Ledger{}, err
	case counted:
		return k.anew(ctx, k.begin(s, "the ledger is missing, and there is a history of spend that was counted with one"))
	}
	next, err := k.anew(ctx, spend.New(s))
	if err == nil && !next.Restored.Before(next.Month) {
		next.Doubt = k.begin(s, "there is no ledger, and the API server was restored from a backup before "+next.Restored.Format(time.RFC3339)).Doubt
	}
	return next, err
}

// anew returns a new ledger, with the marks that it takes into account: all that are on record.
func (k *Tracker) anew(ctx context.Context, l spend.Ledger) (spend.Ledger, error) {
	_, restored, err := breaker.Marks(ctx, k.Live, k.Namespace)
	if err != nil {
		return l, fmt.Errorf("compare the ledger with what breakers remember: %w", err)
	}
	l.Restored, l.KnowsRestored = restored, true
	return l, nil
}

func why(err error) string {
	if err == nil {
		return "the ledger is missing, and nodes run that were launched while there was one"
	}
	return fmt.Sprintf("the ledger cannot be read (%v)", err)
}

// counted reports whether there is a history of this month or of the one before: there must have been a
// ledger then, whatever runs now. A history is not deleted with the ledger.
func (k *Tracker) counted(ctx context.Context, now time.Time) (bool, error) {
	first := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	for _, month := range []time.Time{first, first.AddDate(0, -1, 0)} {
		store := k.store(spend.HistoryName(month))
		store.Key = spend.HistoryKey
		_, cm, err := store.Read(ctx)
		if err != nil && !errors.Is(err, configmap.ErrCorrupt) {
			return false, err
		}
		if cm != nil && cm.Labels[karpv1.LabelSpendYear] == month.Format("2006") {
			return true, nil
		}
	}
	return false, nil
}

// established reports whether a node runs that a decision launched a while ago: there
// must have been a ledger then.
func established(s *model.Snapshot) bool {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Bought != nil && !n.LaunchedAt.IsZero() && s.Time.Sub(n.LaunchedAt) > 5*writeInterval {
			return true
		}
	}
	return false
}

// begin returns a new ledger in doubt. Its amounts are estimated from the running
// instances.
func (k *Tracker) begin(s *model.Snapshot, reason string) spend.Ledger {
	next := spend.New(s)
	next.Doubt = &spend.Doubt{Since: s.Time.UTC().Truncate(time.Second), Reason: reason}
	k.found("%s; begun anew: %.2f $ estimated from the instances that still run", reason, total(&next))
	return next
}

// earlier returns the earlier ledger, nil when there is none that helps at the time now.
func (k *Tracker) earlier(ctx context.Context, now time.Time) (*spend.Ledger, error) {
	text, cm, err := k.store(PreviousName).Read(ctx)
	switch {
	case err == nil && cm != nil:
		return usable(text, now), nil
	case err == nil || errors.Is(err, configmap.ErrCorrupt):
		return nil, nil
	}
	return nil, err
}

// usable returns an encoded earlier ledger, nil when it cannot be read, or is too old or
// ahead of now.
func usable(text []byte, now time.Time) *spend.Ledger {
	kept, err := spend.Decode(text)
	if err == nil && !kept.Through.After(now) && now.Sub(kept.Through) <= monthKept+previousInterval {
		return &kept
	}
	return nil
}

// restoreFromFuture returns the ledger, or another one when it has counted up to a time
// that has not come yet: a clock was ahead.
// The error says that the API server does not answer.
func (k *Tracker) restoreFromFuture(ctx context.Context, l spend.Ledger, s *model.Snapshot) (spend.Ledger, error) {
	if ahead := l.Through.Sub(s.Time); ahead <= stepTolerance {
		return l, nil
	}
	reason := fmt.Sprintf("the ledger has counted up to %s, which is ahead of the clock", l.Through.Format(time.RFC3339))
	earlier, err := k.earlier(ctx, s.Time)
	if err == nil && earlier != nil {
		if err := k.overtaken(ctx, earlier, s); err != nil {
			return l, err
		}
		k.found("%s; it continues from the one of %s", reason, earlier.Through.Format(time.RFC3339))
		return *earlier, nil
	}
	if l.Doubt != nil && l.Month.After(s.Time) {
		return k.anew(ctx, k.begin(s, l.Doubt.Reason))
	}
	if l.Month.After(s.Time) {
		return k.anew(ctx, k.begin(s, reason))
	}
	// The same month: what it has counted is too much, and more is counted from now on.
	k.found("%s; what it has counted stays", reason)
	l.Through = s.Time.UTC()
	return l, nil
}

// found notes that the ledger was lost. It is reported when the marks of what happened to the API server
// have been read as well: a Count that ends before that is repeated, and finds the same.
func (k *Tracker) found(format string, args ...any) {
	k.losses = append(k.losses, fmt.Sprintf(format, args...))
}

// report reports what was found.
func (k *Tracker) report(ctx context.Context) {
	for _, text := range k.losses {
		k.lost(ctx, "%s", text)
	}
	k.losses = nil
}

// lost reports that the ledger was lost, on its ConfigMap.
func (k *Tracker) lost(ctx context.Context, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	k.lostAt.Store(k.Clock.Now().Unix())
	logr.FromContextOrDiscard(ctx).Info("the ledger was lost", "configMap", Name, "why", text)
	k.tell(corev1.EventTypeWarning, karpv1.EventLedgerLost, text)
}

func (k *Tracker) tell(kind, reason, text string) {
	about := k.stored
	if about == nil {
		about = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: Name}}
	}
	k.Events.Eventf(about, nil, kind, reason, "Read", "%s", text)
}
