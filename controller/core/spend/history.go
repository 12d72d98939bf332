package spend

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// HistoryVersion is the format version of encoded periods: of a month of the history, and
// of the days in a ledger.
const HistoryVersion = 1

// History is what a month has cost, by period. It is a value: With returns the next one.
type History struct {
	Month time.Time
	// Periods are sorted by From, which is distinct.
	Periods []Period
}

// NewHistory returns the empty history of the month of a time.
func NewHistory(at time.Time) History { return History{Month: monthStart(at)} }

// With returns the history with a period in place of an earlier account of the same one.
// An estimate of more than a day gives way to days that are known.
func (h History) With(p *Period) History {
	spans := func(a, b *Period) bool {
		return a.Estimated && !a.From.After(b.From) && !a.To.Before(b.To) && a.To.Sub(a.From) > b.To.Sub(b.From)
	}
	if slices.ContainsFunc(h.Periods, func(old Period) bool { return spans(p, &old) }) {
		return h
	}
	h.Periods = slices.DeleteFunc(slices.Clone(h.Periods), func(old Period) bool { return old.From.Equal(p.From) || spans(&old, p) })
	h.Periods = append(h.Periods, *p)
	slices.SortFunc(h.Periods, func(a, b Period) int { return a.From.Compare(b.From) })
	return h
}

// Trim returns the history with few rows in each period: see Ledger.Trim. The totals do
// not change.
func (h History) Trim(entries int) History {
	h.Periods = trimPeriods(h.Periods, entries)
	return h
}

// Rows returns the number of rows of the largest period.
func (h History) Rows() int { return mostRows(h.Periods) }

func mostRows(in []Period) int {
	most := 0
	for i := range in {
		most = max(most, len(in[i].Rows))
	}
	return most
}

func trimPeriods(in []Period, entries int) []Period {
	out := slices.Clone(in)
	for i := range out {
		out[i].Rows = trimRows(out[i].Rows, entries, 0)
	}
	return out
}

// wireHistory is the encoded form of periods. Keys are listed once, and the columns of
// a period are lists of their own, which takes the least in gzip.
type wireHistory struct {
	Version int          `json:"version"`
	Month   time.Time    `json:"month,omitzero"`
	Carry   uint64       `json:"carry,omitempty"`
	Rented  []Rented     `json:"rented"`
	Holders []Holder     `json:"holders"`
	Periods []wirePeriod `json:"periods"`
}

type wirePeriod struct {
	From      time.Time `json:"from"`
	To        time.Time `json:"to"`
	Running   bool      `json:"running,omitempty"`
	Estimated bool      `json:"estimated,omitempty"`
	// Rented and Holder are indexes, each as the difference to that of the row before.
	Rented []int         `json:"r"`
	Holder []int         `json:"h"`
	Micro  []int64       `json:"micro"`
	Rest   []uint64      `json:"rest,omitempty"`
	Rate   []model.Price `json:"rate,omitempty"`
}

// Encode returns the history as JSON, which DecodeHistory reads.
func (h History) Encode() ([]byte, error) {
	w := encodePeriods(h.Periods)
	w.Month = h.Month
	text, err := json.Marshal(w)
	if err != nil {
		return nil, fmt.Errorf("encode history: %w", err)
	}
	return text, nil
}

// DecodeHistory reads an encoded history. The error is ErrNewer for one of a newer version.
func DecodeHistory(text []byte) (History, error) {
	var w wireHistory
	if err := json.Unmarshal(text, &w); err != nil {
		return History{}, fmt.Errorf("read history: %w", err)
	}
	switch {
	case w.Version > HistoryVersion:
		return History{}, fmt.Errorf("read history: %w: version %d, this program reads %d", ErrNewer, w.Version, HistoryVersion)
	case w.Version != HistoryVersion:
		return History{}, fmt.Errorf("read history: version %d, this program reads %d", w.Version, HistoryVersion)
	case w.Month.IsZero() || !w.Month.Equal(monthStart(w.Month)):
		return History{}, fmt.Errorf("read history: %s is not the start of a month", w.Month)
	}
	h := History{Month: w.Month.UTC()}
	for i := range w.Periods {
		p, err := w.period(i)
		switch {
		case err != nil:
			return History{}, fmt.Errorf("read history: %w", err)
		case w.Periods[i].Running || !monthStart(p.From).Equal(h.Month) || p.To.After(h.Month.AddDate(0, 1, 0)) || i > 0 && !p.From.After(h.Periods[i-1].From):
			return History{}, fmt.Errorf("read history: period %d, from %s to %s: want ended periods of the month of %s, in order", i, p.From, p.To, h.Month)
		}
		h.Periods = append(h.Periods, p)
	}
	return h, nil
}

// MarshalJSON implements json.Marshaler.
func (d Days) MarshalJSON() ([]byte, error) {
	w := encodePeriods(append(slices.Clone(d.Ended), d.Today))
	w.Periods[len(w.Periods)-1].Running, w.Carry = true, d.Carry
	return json.Marshal(w)
}

// UnmarshalJSON implements json.Unmarshaler. Days of a newer version are left out: the
// history then begins anew, and the ledger's sums still hold.
func (d *Days) UnmarshalJSON(text []byte) error {
	var w wireHistory
	if err := json.Unmarshal(text, &w); err != nil {
		return fmt.Errorf("days: %w", err)
	}
	if *d = (Days{}); w.Version > HistoryVersion {
		return nil
	}
	d.Carry = w.Carry
	for i := range w.Periods {
		p, err := w.period(i)
		last := i == len(w.Periods)-1
		switch {
		case err != nil:
			return fmt.Errorf("days: %w", err)
		case w.Periods[i].Running != last || monthStart(p.To.Add(-1)).After(monthStart(p.From)):
			return fmt.Errorf("days: period %d, from %s to %s: want the running day last, and none in two months", i, p.From, p.To)
		case last:
			d.Today = p
			byHolder(d.Today.Rows)
		default:
			d.Ended = append(d.Ended, p)
		}
	}
	if d.Today.From.IsZero() || d.Carry >= unit {
		return errors.New("days: want a running day, and a carry below one hour")
	}
	return nil
}

func encodePeriods(in []Period) wireHistory {
	w := wireHistory{Version: HistoryVersion, Rented: []Rented{}, Holders: []Holder{}, Periods: make([]wirePeriod, 0, len(in))}
	rented, holders := map[Rented]int{}, map[Holder]int{}
	for i := range in {
		for k := range in[i].Rows {
			rented[in[i].Rows[k].Rented], holders[in[i].Rows[k].Holder] = 0, 0
		}
	}
	for r := range rented {
		w.Rented = append(w.Rented, r)
	}
	for h := range holders {
		w.Holders = append(w.Holders, h)
	}
	slices.SortFunc(w.Rented, compareRented)
	slices.SortFunc(w.Holders, compare)
	for i, r := range w.Rented {
		rented[r] = i
	}
	for i, h := range w.Holders {
		holders[h] = i
	}
	for i := range in {
		w.Periods = append(w.Periods, in[i].encode(rented, holders))
	}
	return w
}

func (p *Period) encode(rented map[Rented]int, holders map[Holder]int) wirePeriod {
	n := len(p.Rows)
	w := wirePeriod{
		From: p.From, To: p.To, Estimated: p.Estimated,
		Rented: make([]int, n), Holder: make([]int, n), Micro: make([]int64, n), Rest: make([]uint64, n), Rate: make([]model.Price, n),
	}
	rest, rate, lastRented, lastHolder := uint64(0), model.Price(0), 0, 0
	rows := slices.Clone(p.Rows)
	slices.SortFunc(rows, compareRows)
	for i := range rows {
		row := &rows[i]
		r, h := rented[row.Rented], holders[row.Holder]
		w.Rented[i], w.Holder[i], w.Micro[i], w.Rest[i], w.Rate[i] = r-lastRented, h-lastHolder, row.Amount.Micro, row.Amount.Rest, row.Rate
		lastRented, lastHolder = r, h
		rest, rate = rest|row.Amount.Rest, rate|row.Rate
	}
	if rest == 0 {
		w.Rest = nil
	}
	if rate == 0 {
		w.Rate = nil
	}
	return w
}

// period decodes one period.
func (w *wireHistory) period(i int) (Period, error) {
	in := &w.Periods[i]
	n := len(in.Micro)
	if len(in.Rented) != n || len(in.Holder) != n || len(in.Rest) != n && len(in.Rest) != 0 || len(in.Rate) != n && len(in.Rate) != 0 {
		return Period{}, fmt.Errorf("period %d: columns of different lengths", i)
	}
	if in.From.IsZero() || in.To.Before(in.From) && !in.Running {
		return Period{}, fmt.Errorf("period %d: from %s to %s", i, in.From, in.To)
	}
	p := Period{From: in.From.UTC(), To: in.To.UTC(), Estimated: in.Estimated}
	r, h := 0, 0
	for k := range n {
		r, h = r+in.Rented[k], h+in.Holder[k]
		if r < 0 || r >= len(w.Rented) || h < 0 || h >= len(w.Holders) {
			return Period{}, fmt.Errorf("period %d, row %d: no such key", i, k)
		}
		row := Row{Rented: w.Rented[r], Holder: w.Holders[h], Amount: Amount{Micro: in.Micro[k]}}
		if len(in.Rest) > 0 {
			row.Amount.Rest = in.Rest[k]
		}
		if len(in.Rate) > 0 {
			row.Rate = in.Rate[k]
		}
		if !row.Amount.Valid() || row.Rate < 0 {
			return Period{}, fmt.Errorf("period %d, row %d: amount %+v, rate %d", i, k, row.Amount, row.Rate)
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}
