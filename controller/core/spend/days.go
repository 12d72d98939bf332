package spend

import (
	"cmp"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// Row is what one holder has cost within what was rented.
type Row struct {
	Rented
	Holder
	Amount Amount
	// Rate is the current hourly price. It is 0 in a period that has ended.
	Rate model.Price
}

// Period is a UTC day, or another time within a month, with what was charged for it.
type Period struct {
	// From and To bound it. To is exclusive; while the period runs, it is the time up to
	// which all costs are included.
	From, To time.Time
	// Estimated is set when costs were estimated from the instances that still ran, or
	// were counted while a clock was ahead.
	Estimated bool
	// Rows are distinct. Those of a period that has ended are sorted, and their amounts are
	// whole micro-dollars.
	Rows []Row
}

// Days divides what the ledger charges by UTC day and by the pair of what was rented and
// who used it. The rows of a day add up to exactly what the ledger charged in it.
type Days struct {
	// Ended are the periods that the history does not have yet, the oldest first.
	Ended []Period
	// Today runs. Its From is zero in a ledger that was written before there were days.
	Today Period
	// Carry is the fraction of a micro-dollar, as in Amount.Rest, that was charged in
	// this month before Today and is in no period that has ended.
	Carry uint64

	// ending are periods that ended within the current call of Advance. A launch that is
	// seen late may still be charged to them.
	ending []Period
}

const (
	// maxEnded is how many ended periods a ledger keeps, or one for each month if these are
	// more. If the history cannot be written for longer, the oldest two of one month become one.
	maxEnded = 7
	// maxRows is the number of rows above which small ones are merged while a day runs.
	maxRows = 50_000
	// yearDays is how many days the history may have.
	yearDays = 366
)

// IsZero reports whether the ledger has no days yet.
func (d Days) IsZero() bool { return d.Today.From.IsZero() }

func dayStart(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// open returns a copy that can be charged from the time through to the time now. A clock
// that was put back begins a new period, so that none has the start of an earlier one.
// After more than a year, the days begin anew.
func (d Days) open(through, now time.Time) Days {
	if now.Sub(through) > yearDays*24*time.Hour {
		return Days{}
	}
	d.Ended, d.Today.Rows = slices.Clone(d.Ended), slices.Clone(d.Today.Rows)
	if !d.IsZero() && (d.Today.From.After(through) || !dayStart(d.Today.From).Equal(dayStart(through))) {
		d.Today.From, d.Today.Estimated = through, true
	}
	return d
}

// charge accrues all rates between two times of one month, and ends the days between
// them. Of a time without a controller, only the last days are kept apart.
func (d *Days) charge(from, to time.Time) {
	if d.IsZero() {
		return
	}
	midnight := dayStart(from).AddDate(0, 0, 1)
	if days := int(to.Sub(dayStart(from)) / (24 * time.Hour)); days > maxEnded {
		midnight = midnight.AddDate(0, 0, days-maxEnded)
	}
	for ; !midnight.After(to); midnight = midnight.AddDate(0, 0, 1) {
		d.Today.accrue(midnight.Sub(from))
		d.Today.To, from = midnight, midnight
		d.ending = append(d.ending, d.Today)
		next := Period{From: midnight, To: midnight, Rows: slices.Clone(d.Today.Rows)}
		for i := range next.Rows {
			next.Rows[i].Amount = Amount{}
		}
		byHolder(next.Rows)
		d.Today = next
	}
	d.Today.accrue(to.Sub(from))
	d.Today.To = to
}

func (p *Period) accrue(d time.Duration) {
	for i := range p.Rows {
		p.Rows[i].Amount.Accrue(p.Rows[i].Rate, d)
	}
}

// begin starts the days of a ledger that has none, at its present end.
func (d *Days) begin(l *Ledger) {
	if d.IsZero() {
		total := l.Total()
		d.Today, d.Carry = Period{From: l.Through, To: l.Through}, total.Rest
	}
}

// beginDays returns the days of a new ledger. What is charged for earlier days of the month is
// an estimate, and one period.
func beginDays(month, now time.Time) Days {
	d := Days{Today: Period{From: dayStart(now), To: now}}
	if month.Before(d.Today.From) {
		d.ending = []Period{{From: month, To: d.Today.From, Estimated: true}}
	}
	return d
}

// settle rounds the periods that have just ended, and drops rows without money.
func (d *Days) settle() {
	for i := range d.ending {
		p := &d.ending[i]
		if d.Carry = p.round(d.Carry); p.To.Equal(monthStart(p.To)) {
			d.Carry = 0 // each month is rounded by itself
		}
		if len(p.Rows) > 0 {
			d.Ended = append(d.Ended, *p)
		}
	}
	d.ending = nil
	for i := 0; len(d.Ended) > maxEnded && i+1 < len(d.Ended); {
		if !monthStart(d.Ended[i].From).Equal(monthStart(d.Ended[i+1].From)) {
			i++ // nothing of that month is left to join
			continue
		}
		d.Ended[i+1] = joinPeriods(&d.Ended[i], &d.Ended[i+1])
		d.Ended = slices.Delete(d.Ended, i, i+1)
	}
	d.Today.Rows = slices.DeleteFunc(d.Today.Rows, func(r Row) bool { return r.Rate == 0 && r.Amount == Amount{} })
	if len(d.Today.Rows) > maxRows {
		d.Today.Rows = trimRows(d.Today.Rows, maxApart, d.Today.From.AddDate(0, 0, 1).Sub(d.Today.To))
	}
}

// round makes the amounts whole micro-dollars. Together with carry, a fraction from before
// the period, they add up to what was charged, without the fraction that is returned.
// The rows with the largest fractions get what the fractions add up to.
func (p *Period) round(carry uint64) uint64 {
	p.Rows = trimRows(p.Rows, maxApart, 0)
	slices.SortFunc(p.Rows, compareRows)
	order := make([]int, len(p.Rows))
	for i := range p.Rows {
		order[i] = i
		carry += p.Rows[i].Amount.Rest
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p.Rows[b].Amount.Rest, p.Rows[a].Amount.Rest) })
	for k, i := range order {
		p.Rows[i].Amount.Rest, p.Rows[i].Rate = 0, 0
		if uint64(k) < carry/unit {
			p.Rows[i].Amount.Micro++
		}
	}
	p.Rows = slices.DeleteFunc(p.Rows, func(r Row) bool { return r.Amount.Micro == 0 })
	return carry % unit
}

// Periods returns the periods that the ledger has, the running one last, in whole
// micro-dollars.
func (d Days) Periods() []Period {
	out := slices.Clone(d.Ended)
	if d.IsZero() {
		return out
	}
	today := d.Today
	today.Rows = slices.Clone(today.Rows)
	today.round(d.Carry)
	if len(today.Rows) > 0 {
		out = append(out, today)
	}
	return out
}

// Recorded returns the days without ended periods that the history has by now.
func (d Days) Recorded(has func(*Period) bool) Days {
	d.Ended = slices.DeleteFunc(slices.Clone(d.Ended), func(p Period) bool { return has(&p) })
	return d
}

// Total returns the cost of the period.
func (p *Period) Total() Amount {
	var sum Amount
	for i := range p.Rows {
		sum.Plus(p.Rows[i].Amount)
	}
	return sum
}
