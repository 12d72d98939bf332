// Package spending reads what a cluster has cost by day, from the ConfigMaps in which the
// controller keeps its ledger and the history: of a live cluster, with the user's own
// kubeconfig and GET requests only, or of files that kubectl get -o yaml has written.
//
// It also adds the rows up for `spokeshave spend`. The FOCUS rows of `spokeshave spend
// export` are in controller/record/focus.
package spending

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/spend"
)

// maxUnpacked is the largest size of an uncompressed record in bytes.
const maxUnpacked = 64 << 20

// Range is a time from From until To, which is exclusive.
type Range struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// Months returns the start of each month that the range touches.
func (r Range) Months() []time.Time {
	var out []time.Time
	for m := spend.NewHistory(r.From).Month; m.Before(r.To); m = m.AddDate(0, 1, 0) {
		out = append(out, m)
	}
	return out
}

// Book is what is known of a cluster's spend.
type Book struct {
	ledger *spend.Ledger
	months map[time.Time]spend.History
}

// ErrNothing says that neither a ledger nor a history was found.
var ErrNothing = errors.New("no ledger and no history of spend")

// read returns the book of the ConfigMaps. The ledger's days replace those of the history.
func read(maps []corev1.ConfigMap) (*Book, error) {
	b := &Book{months: map[time.Time]spend.History{}}
	for i := range maps {
		if err := b.add(&maps[i]); err != nil {
			return nil, fmt.Errorf("ConfigMap %s/%s: %w", maps[i].Namespace, maps[i].Name, err)
		}
	}
	if b.ledger == nil && len(b.months) == 0 {
		return nil, ErrNothing
	}
	if b.ledger != nil {
		for _, p := range b.ledger.Days.Periods() {
			b.put(&p)
		}
	}
	return b, nil
}

// add adds what a ConfigMap has: a month of the history, a ledger, or nothing. The earlier
// ledger of the controller has the same key as the ledger, and counts only without it.
func (b *Book) add(cm *corev1.ConfigMap) error {
	if packed, ok := cm.BinaryData[spend.HistoryKey]; ok {
		text, err := unpack(packed)
		if err != nil {
			return err
		}
		h, err := spend.DecodeHistory(text)
		if err != nil {
			return err
		}
		b.months[h.Month] = h
	}
	if packed, ok := cm.BinaryData[spend.LedgerKey]; ok && (b.ledger == nil || cm.Name == spend.LedgerName) {
		text, err := unpack(packed)
		if err != nil {
			return err
		}
		l, err := spend.Decode(text)
		if err != nil {
			return err
		}
		b.ledger = &l
	}
	return nil
}

func (b *Book) put(p *spend.Period) {
	month := spend.NewHistory(p.From)
	if known, ok := b.months[month.Month]; ok {
		month = known
	}
	b.months[month.Month] = month.With(p)
}

func unpack(packed []byte) ([]byte, error) {
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(zip, maxUnpacked+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("decompress: %w", err)
	case len(text) > maxUnpacked:
		return nil, fmt.Errorf("decompress: more than %d bytes", maxUnpacked)
	}
	return text, nil
}

// Periods returns the periods that begin within the range, in order.
func (b *Book) Periods(r Range) []spend.Period {
	var out []spend.Period
	for _, h := range b.months {
		for _, p := range h.Periods {
			if !p.From.Before(r.From) && p.From.Before(r.To) {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b spend.Period) int { return cmp.Compare(a.From.UnixNano(), b.From.UnixNano()) })
	return out
}

// Gaps says, of each month of the range, what its days lack of what the ledger has counted.
func (b *Book) Gaps(r Range) []string {
	var out []string
	for _, month := range r.Months() {
		counted, ok := b.counted(month)
		if !ok {
			continue
		}
		sum, first := spend.Amount{}, time.Time{}
		for _, p := range b.months[month].Periods {
			sum.Plus(p.Total())
			if first.IsZero() {
				first = p.From
			}
		}
		if sum.Micro == counted.Micro {
			continue
		}
		text := fmt.Sprintf("the days of %s add up to %.2f $, the ledger of the month to %.2f $", month.Format("2006-01"), sum.USD(), counted.USD())
		if first.After(month) {
			text += fmt.Sprintf("; its history begins %s", first.Format(time.RFC3339))
		}
		out = append(out, text)
	}
	return out
}

// counted returns what the ledger says of a month.
func (b *Book) counted(month time.Time) (spend.Amount, bool) {
	if b.ledger == nil {
		return spend.Amount{}, false
	}
	if b.ledger.Month.Equal(month) {
		return b.ledger.Total(), true
	}
	for _, past := range b.ledger.Past {
		if past.Month.Equal(month) {
			return past.Amount, true
		}
	}
	return spend.Amount{}, false
}
