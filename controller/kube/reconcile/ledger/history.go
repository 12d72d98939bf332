package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/controller/kube/reconcile/configmap"
)

// historyTimeout bounds the reading of the history for a reader.
const historyTimeout = 5 * time.Second

// Periods returns what the last days have cost, the oldest first: those of the month before
// and of this one, and the day that runs. It returns nothing before the first snapshot.
func (k *Tracker) Periods(ctx context.Context) ([]spend.Period, error) {
	l := k.Latest()
	if l == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, historyTimeout)
	defer cancel()
	var out []spend.Period
	for _, at := range []time.Time{l.Month.AddDate(0, -1, 0), l.Month} {
		store := k.store(spend.HistoryName(at))
		store.Key = spend.HistoryKey
		h, _, err := readHistory(ctx, store, at)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		for i := range l.Days.Ended {
			if p := &l.Days.Ended[i]; p.From.Year() == at.Year() && p.From.Month() == at.Month() {
				h = h.With(p)
			}
		}
		out = append(out, h.Periods...)
	}
	if !l.Days.Today.From.IsZero() {
		out = append(out, l.Days.Today)
	}
	return out, nil
}

// file writes the days that have ended to the history, and takes those that are written
// out of the ledger. The ledger is stored with them first, so that a replica that was
// overtaken writes no history, and a crash between the two repeats a write at most.
func (k *Tracker) file(ctx context.Context, l *spend.Ledger) error {
	if k.newer != nil {
		return nil
	}
	written, tried := map[time.Time]bool{}, map[string]bool{}
	var all error
	for i := range l.Days.Ended {
		at := l.Days.Ended[i].From
		if tried[at.Format("2006-01")] {
			continue
		}
		tried[at.Format("2006-01")] = true
		done, err := k.fileMonth(ctx, l, at)
		all = errors.Join(all, err)
		for _, from := range done {
			written[from] = true
		}
	}
	if len(written) > 0 {
		next := *l
		next.Days = l.Days.Recorded(func(p *spend.Period) bool { return written[p.From] })
		k.ledger.Store(&next)
	}
	return all
}

// fileMonth writes the ended days of one month, and returns when they began.
func (k *Tracker) fileMonth(ctx context.Context, l *spend.Ledger, at time.Time) ([]time.Time, error) {
	store := k.store(spend.HistoryName(at))
	store.Key = spend.HistoryKey
	store.Labels = map[string]string{karpv1.LabelSpendYear: at.Format("2006")}
	h, cm, err := readHistory(ctx, store, at)
	if err != nil {
		return nil, fmt.Errorf("write history: %w", err)
	}
	var done []time.Time
	for i := range l.Days.Ended {
		if p := &l.Days.Ended[i]; p.From.Year() == at.Year() && p.From.Month() == at.Month() {
			h = h.With(p)
			done = append(done, p.From)
		}
	}
	for entries := h.Rows(); ; entries /= 2 {
		text, err := h.Trim(entries).Encode()
		if err == nil {
			_, err = store.Replace(ctx, cm, text, nil)
		}
		switch {
		case err == nil:
			return done, nil
		case entries == 0 || !errors.Is(err, configmap.ErrTooLarge):
			return nil, fmt.Errorf("write history: %w", err)
		}
	}
}

// readHistory returns the history of the month as far as it is stored. One of another
// year is replaced, and so is one that cannot be read: nothing could read it later
// either. One of a newer version stays.
func readHistory(ctx context.Context, store *configmap.Store, at time.Time) (spend.History, *corev1.ConfigMap, error) {
	text, cm, err := store.Read(ctx)
	switch {
	case errors.Is(err, configmap.ErrCorrupt):
		return spend.NewHistory(at), cm, nil
	case err != nil:
		return spend.History{}, nil, err
	case cm == nil:
		return spend.NewHistory(at), nil, nil
	}
	h, err := spend.DecodeHistory(text)
	if errors.Is(err, spend.ErrNewer) {
		return spend.History{}, nil, err
	}
	if fresh := spend.NewHistory(at); err != nil || !h.Month.Equal(fresh.Month) {
		return fresh, cm, nil //nolint:nilerr // what cannot be read is replaced
	}
	return h, cm, nil
}
