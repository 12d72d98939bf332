package spend

import (
	"cmp"
	"slices"
	"time"

	"spokeshave.dev/controller/core/model"
)

// pair is the key of a row.
type pair struct {
	Rented
	Holder
}

func compareRented(a, b Rented) int {
	return cmp.Or(cmp.Compare(a.Pool, b.Pool), cmp.Compare(a.Labels, b.Labels),
		cmp.Compare(a.Family, b.Family), cmp.Compare(a.CapacityType, b.CapacityType))
}

func compareRows(a, b Row) int {
	return cmp.Or(compareRented(a.Rented, b.Rented), compare(a.Holder, b.Holder))
}

// byHolder puts the rows of each holder next to each other, which spares newRater look-ups.
func byHolder(rows []Row) {
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(compare(a.Holder, b.Holder), compareRented(a.Rented, b.Rented)) })
}

// trimRows merges the smallest rows, as Ledger.Trim does: workloads by namespace and
// families by NodePool, and what is still too much by capacity type. rest is the time for
// which rates still count.
func trimRows(rows []Row, entries int, rest time.Duration) []Row {
	if len(rows) <= entries {
		return rows
	}
	lines := make([]costLine[pair], 0, len(rows))
	rows = slices.Clone(rows)
	slices.SortFunc(rows, compareRows) // so that equal rows are merged in a fixed order
	for i := range rows {
		lines = append(lines, newCostLine(pair{rows[i].Rented, rows[i].Holder}, rows[i].Amount, rows[i].Rate, rest))
	}
	merged := mergeSmallest(lines, entries,
		func(k pair) pair { return pair{byPool(k.Rented), bySpace(k.Holder)} },
		func(k pair) pair { return pair{byPools(k.Rented), bySpaces(k.Holder)} })
	out := make([]Row, 0, len(merged))
	for _, m := range merged {
		out = append(out, Row{Rented: m.key.Rented, Holder: m.key.Holder, Amount: m.amount, Rate: m.rate})
	}
	slices.SortFunc(out, compareRows)
	return out
}

// joinPeriods returns one period in place of two that follow each other.
func joinPeriods(a, b *Period) Period {
	out := Period{From: a.From, To: b.To, Estimated: a.Estimated || b.Estimated}
	if out.To.Before(a.To) {
		out.To = a.To
	}
	all := slices.Concat(a.Rows, b.Rows)
	slices.SortStableFunc(all, compareRows)
	for _, r := range all {
		if n := len(out.Rows); n > 0 && compareRows(out.Rows[n-1], r) == 0 {
			out.Rows[n-1].Amount.Plus(r.Amount)
		} else {
			out.Rows = append(out.Rows, r)
		}
	}
	out.Rows = trimRows(out.Rows, maxApart, 0)
	return out
}

// rater replaces the rates of the running day by those of a snapshot.
type rater struct {
	days *Days
	held map[Holder]*HeldSpend
	// last is the index of each holder's last row, plus one, and before that of the row
	// of the same holder before each row: a workload has few, since it runs in few
	// NodePools, families and capacity types.
	last   map[*HeldSpend]int32
	before []int32
	late   []lateCharge
}

// lateCharge is time before now that was not charged when it passed.
type lateCharge struct {
	pair
	price    model.Price
	from, to time.Time
}

// newRater begins with no rates, and puts the holders of the day's rows into held.
func newRater(d *Days, held map[Holder]*HeldSpend) *rater {
	n := len(d.Today.Rows)
	r := &rater{days: d, held: held, last: make(map[*HeldSpend]int32, n), before: make([]int32, 0, n)}
	var h *HeldSpend
	for i := range d.Today.Rows {
		row := &d.Today.Rows[i]
		if row.Rate = 0; h == nil || h.Holder != row.Holder {
			h = r.holder(row.Holder)
		}
		r.link(h, i)
	}
	return r
}

func (r *rater) holder(of Holder) *HeldSpend {
	return get(r.held, of, func(k Holder) *HeldSpend { return &HeldSpend{Holder: k} })
}

func (r *rater) link(h *HeldSpend, i int) {
	r.before = append(r.before, r.last[h])
	r.last[h] = int32(i) + 1
}

// add adds the price of a node's share to its row. backlog is the time until to that the
// node ran without being charged.
func (r *rater) add(rented Rented, h *HeldSpend, price model.Price, backlog time.Duration, to time.Time) {
	r.row(rented, h).Rate += price
	if backlog > 0 {
		r.late = append(r.late, lateCharge{pair{rented, h.Holder}, price, to.Add(-backlog), to})
	}
}

func (r *rater) row(rented Rented, h *HeldSpend) *Row {
	rows := r.days.Today.Rows
	for i := r.last[h]; i > 0; i = r.before[i-1] {
		if rows[i-1].Rented == rented {
			return &rows[i-1]
		}
	}
	r.days.Today.Rows = append(rows, Row{Rented: rented, Holder: h.Holder})
	r.link(h, len(rows))
	return &r.days.Today.Rows[len(rows)]
}

// chargeLate divides what was not charged in time among the days in which it arose, as
// far as they have not ended before. The rest counts in the earliest of them.
func (r *rater) chargeLate() {
	if len(r.late) == 0 {
		return
	}
	d := r.days
	for e := range d.ending {
		p := &d.ending[e]
		at := map[pair]int{}
		for k := range p.Rows {
			at[pair{p.Rows[k].Rented, p.Rows[k].Holder}] = k
		}
		for k := range r.late {
			l := &r.late[k]
			if !l.from.Before(p.To) {
				continue
			}
			i, known := at[l.pair]
			if !known {
				i, at[l.pair] = len(p.Rows), len(p.Rows)
				p.Rows = append(p.Rows, Row{Rented: l.Rented, Holder: l.Holder})
			}
			p.Rows[i].Amount.Accrue(l.price, p.To.Sub(l.from))
			l.from = p.To
		}
	}
	for _, l := range r.late {
		r.row(l.Rented, r.holder(l.Holder)).Amount.Accrue(l.price, l.to.Sub(l.from))
	}
}
