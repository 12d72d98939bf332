package spend

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// month adds up what a month's periods say, of the history and of a ledger.
func month(of time.Time, h *History, l *Ledger) (sum int64) {
	for _, p := range slices.Concat(h.Periods, l.Days.Periods()) {
		if monthStart(p.From).Equal(of) {
			total := p.Total()
			sum += total.Micro
		}
	}
	return sum
}

// file moves a ledger's ended periods to the histories of their months.
func file(l *Ledger, months map[time.Time]History) {
	for i := range l.Days.Ended {
		p := &l.Days.Ended[i]
		h, ok := months[monthStart(p.From)]
		if !ok {
			h = NewHistory(p.From)
		}
		months[monthStart(p.From)] = h.With(p)
	}
	l.Days = l.Days.Recorded(func(*Period) bool { return true })
}

// TestDaysAddUp: whatever happens, the rows of all days of a month add up to the month's
// sum in whole micro-dollars, those of a NodePool to that of the NodePool within one
// micro-dollar a row, and the running day with its fraction to what was charged in it.
func TestDaysAddUp(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		s := cluster(r, 1+r.IntN(20))
		l, months := New(s), map[time.Time]History{}
		for step := range 60 {
			d := time.Duration(1 + r.Int64N(int64(40*time.Minute)))
			switch r.IntN(12) {
			case 0:
				d += time.Duration(r.IntN(60)) * time.Hour
				seen["long"]++
			case 1: // exactly at midnight
				d = dayStart(s.Time).AddDate(0, 0, 1).Sub(s.Time)
				seen["midnight"]++
			}
			next := *s
			next.Time = s.Time.Add(d)
			next.Nodes, next.Pods, next.Moves = slices.Clone(s.Nodes), slices.Clone(s.Pods), nil
			word, _ := change(r, s, &next)
			seen[word]++
			if r.IntN(5) == 0 {
				text, err := l.Encode()
				if err == nil {
					l, err = Decode(text)
				}
				if err != nil {
					t.Fatal(err)
				}
				seen["restart"]++
			}
			before := l.Month
			l = l.Advance(&next)
			s = &next
			if r.IntN(3) == 0 { // else the history is written later
				file(&l, months)
			}
			what := fmt.Sprintf("seed %d, step %d, %s, %s", seed, step, word, l.Through)
			h, total := months[l.Month], l.Total()
			if got := month(l.Month, &h, &l); got != total.Micro {
				t.Fatalf("%s: the days add up to %d, the month to %d", what, got, total.Micro)
			}
			if l.Month.After(before) {
				past, h := l.Past[len(l.Past)-1], months[before]
				if got := month(before, &h, &l); got != past.Micro {
					t.Fatalf("%s: the days of the month that ended add up to %d, the month to %d", what, got, past.Micro)
				}
				seen["month"]++
			}
			checkToday(t, &l, months[l.Month], what)
		}
	}
	for _, word := range []string{"price", "launch", "flight", "end", "pool", "pods", "move", "restart", "month", "midnight", "long"} {
		if seen[word] < 20 {
			t.Errorf("%s happened %d times: %v", word, seen[word], seen)
		}
	}
}

// checkToday compares days with the two sums of the ledger, to the last fraction.
func checkToday(t *testing.T, l *Ledger, h History, what string) {
	t.Helper()
	rented, held, rows := map[Rented]*big.Int{}, map[Holder]*big.Int{}, 0
	add := func(rs []Row) {
		for i := range rs {
			r, a := &rs[i], exact(rs[i].Amount)
			rented[r.Rented] = new(big.Int).Add(get(rented, r.Rented, func(Rented) *big.Int { return new(big.Int) }), a)
			held[r.Holder] = new(big.Int).Add(get(held, r.Holder, func(Holder) *big.Int { return new(big.Int) }), a)
			rows++
		}
	}
	for _, p := range slices.Concat(h.Periods, l.Days.Ended) {
		if monthStart(p.From).Equal(l.Month) {
			add(p.Rows)
		}
	}
	add(l.Days.Today.Rows)
	near := func(kind string, key any, got *big.Int, want Amount) {
		diff := new(big.Int).Sub(get(map[int]*big.Int{0: got}, 0, nil), exact(want))
		if got == nil || diff.Abs(diff).Cmp(new(big.Int).Mul(big.NewInt(int64(rows)), new(big.Int).SetUint64(unit))) > 0 {
			t.Fatalf("%s: %s %+v: days %s, ledger %s", what, kind, key, got, exact(want))
		}
	}
	for _, p := range l.Pools {
		if p.Amount.Micro > 0 {
			near("rented", p.Rented, rented[p.Rented], p.Amount)
		}
	}
	for _, p := range l.Holders {
		if p.Amount.Micro > 0 {
			near("held by", p.Holder, held[p.Holder], p.Amount)
		}
	}
	if rate := model.Price(0); true {
		for i := range l.Days.Today.Rows {
			rate += l.Days.Today.Rows[i].Rate
		}
		if rate != l.Rate() {
			t.Fatalf("%s: the day's rows have %d $/h, the ledger %d", what, rate, l.Rate())
		}
	}
}

// TestDayOfCharge: what is charged counts on the day on which it arose.
func TestDayOfCharge(t *testing.T) {
	midnight := time.Date(2026, 3, 11, 0, 0, 0, 0, time.UTC)
	node := func(name string, launched time.Time) model.Node {
		return model.Node{Name: name, Claim: name, Pool: 0, Price: 3_600_000, LaunchedAt: launched} // 1,000 micro-dollars a second
	}
	at := func(after time.Duration, nodes ...model.Node) *model.Snapshot {
		return &model.Snapshot{Time: midnight.Add(after), Pools: []model.Pool{{Name: "general"}}, Nodes: nodes}
	}
	old := node("old", midnight.Add(-time.Hour))
	type day struct {
		From, To  string
		Micro     int64
		Estimated bool
	}
	for name, tc := range map[string]struct {
		reason string
		looks  []*model.Snapshot
		want   []day
	}{
		"between two looks": {
			"a day that ends between two looks ends at midnight",
			[]*model.Snapshot{at(-time.Hour, old), at(-time.Minute, old), at(time.Minute, old)},
			[]day{{"10T00:00:00", "11T00:00:00", 3_600_000, false}, {"11T00:00:00", "11T00:01:00", 60_000, false}},
		},
		"launch": {
			"a node that started before midnight and is seen after it costs both days",
			[]*model.Snapshot{at(-time.Minute), at(time.Minute, node("new", midnight.Add(-10*time.Second)))},
			[]day{{"10T00:00:00", "11T00:00:00", 10_000, false}, {"11T00:00:00", "11T00:01:00", 60_000, false}},
		},
		"late launch": {
			"one that is seen when its day has ended is charged to the day that runs",
			[]*model.Snapshot{at(-time.Minute), at(time.Minute), at(2*time.Minute, node("new", midnight.Add(-10*time.Second)))},
			[]day{{"11T00:00:00", "11T00:02:00", 130_000, false}},
		},
		"estimate": {
			"of the days before the first look nothing is known but their sum",
			[]*model.Snapshot{at(time.Minute, node("old", midnight.AddDate(0, 0, -2)))},
			[]day{{"01T00:00:00", "11T00:00:00", 2 * 86_400_000, true}, {"11T00:00:00", "11T00:01:00", 60_000, true}},
		},
		"days without a controller": {
			"each is a day",
			[]*model.Snapshot{at(0, node("old", midnight)), at(49*time.Hour, old)},
			[]day{{"11T00:00:00", "12T00:00:00", 86_400_000, false}, {"12T00:00:00", "13T00:00:00", 86_400_000, false}, {"13T00:00:00", "13T01:00:00", 3_600_000, false}},
		},
		"ten days without a controller": {
			"no more than a few days are kept apart",
			[]*model.Snapshot{at(0, node("old", midnight)), at(10*24*time.Hour, old)},
			[]day{
				{"11T00:00:00", "15T00:00:00", 4 * 86_400_000, false},
				{"15T00:00:00", "16T00:00:00", 86_400_000, false},
				{"16T00:00:00", "17T00:00:00", 86_400_000, false},
				{"17T00:00:00", "18T00:00:00", 86_400_000, false},
				{"18T00:00:00", "19T00:00:00", 86_400_000, false},
				{"19T00:00:00", "20T00:00:00", 86_400_000, false},
				{"20T00:00:00", "21T00:00:00", 86_400_000, false},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := New(tc.looks[0])
			for _, s := range tc.looks[1:] {
				l = l.Advance(s)
			}
			var got []day
			for _, p := range l.Days.Periods() {
				total := p.Total()
				got = append(got, day{p.From.Format("02T15:04:05"), p.To.Format("02T15:04:05"), total.Micro, p.Estimated})
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestClockPutBack: a ledger whose end is set back in its month, since a clock was ahead,
// goes on in a period of its own, and what it has counted stays.
func TestClockPutBack(t *testing.T) {
	s := cluster(rand.New(rand.NewPCG(4, 4)), 5)
	s.Time = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	l, months := New(s), map[time.Time]History{}
	ahead := *s
	ahead.Time = s.Time.AddDate(0, 0, 2)
	l = l.Advance(&ahead)
	file(&l, months)
	l.Through = s.Time
	for hour := range 24 * 4 {
		now := *s
		now.Time = s.Time.Add(time.Duration(hour) * time.Hour)
		l = l.Advance(&now)
		file(&l, months)
	}
	h, total := months[l.Month], l.Total()
	// The days that were counted while the clock was ahead are counted anew: they replace
	// what they then were.
	anew := int64(0)
	for i := range h.Periods {
		if p := h.Periods[i]; p.Estimated && p.From.Equal(s.Time) {
			sum := p.Total()
			anew = sum.Micro
		}
	}
	if got := month(l.Month, &h, &l); anew == 0 || got > total.Micro || total.Micro-got > 2*24*int64(l.Rate()) {
		t.Errorf("the days add up to %d, the month to %d, since the clock was put back %d", got, total.Micro, anew)
	}
}

// TestLedgerWithoutDays: one that an earlier version wrote begins its history with the
// next snapshot, and the sums of the month stay as they are.
func TestLedgerWithoutDays(t *testing.T) {
	s := cluster(rand.New(rand.NewPCG(3, 3)), 8)
	l := New(s)
	l.Days = Days{}
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if l, err = Decode(text); err != nil || !l.Days.IsZero() {
		t.Fatalf("%+v: %v", l.Days, err)
	}
	first := *s
	first.Time = s.Time.Add(time.Minute)
	l = l.Advance(&first)
	before := l.Total()
	for hour := range 30 {
		next := *s
		next.Time = first.Time.Add(time.Duration(hour+1) * time.Hour)
		l = l.Advance(&next)
	}
	total, none := l.Total(), NewHistory(s.Time)
	if got := month(l.Month, &none, &l); got != total.Micro-before.Micro {
		t.Errorf("the days add up to %d, want %d: all since the first snapshot", got, total.Micro-before.Micro)
	}
	if from := l.Days.Periods()[0].From; !from.Equal(first.Time) {
		t.Errorf("the history begins at %s, want %s", from, first.Time)
	}
}

// TestDaysThatWait: while no history can be written, the periods that wait stay few over the
// turns of months, none is in two months, and each month adds up to its sum.
func TestDaysThatWait(t *testing.T) {
	s := cluster(rand.New(rand.NewPCG(6, 6)), 5)
	s.Time = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	l := New(s)
	for day := range 80 {
		next := *s
		next.Time = s.Time.AddDate(0, 0, day+1)
		if l = l.Advance(&next); len(l.Days.Ended) > maxEnded {
			t.Fatalf("on %s %d periods wait, want at most %d", next.Time.Format(time.DateOnly), len(l.Days.Ended), maxEnded)
		}
	}
	months := map[time.Time]History{}
	file(&l, months)
	for _, past := range l.Past {
		h := months[past.Month]
		if got := month(past.Month, &h, &Ledger{}); len(h.Periods) == 0 || got != past.Micro {
			t.Errorf("the periods of %s add up to %d, want %d", past.Month.Format("2006-01"), got, past.Micro)
		}
	}
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(text); err != nil {
		t.Error(err)
	}
}
