package spend

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

func packed(t *testing.T, text []byte) int {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

// someHistory is a month of so many namespaces, each with a workload in two NodePools.
func someHistory(t testing.TB, days, namespaces int) History {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 1))
	h := NewHistory(start)
	for day := range days {
		from := h.Month.AddDate(0, 0, day)
		p := Period{From: from, To: from.AddDate(0, 0, 1)}
		for i := range namespaces {
			p.Rows = append(p.Rows, Row{
				Rented: Rented{Pool: []string{"general", "gpu"}[i%2], Labels: "team=web", Family: []string{"m5", "c6g", "r7i"}[r.IntN(3)], CapacityType: model.Spot},
				Holder: Holder{Workload, fmt.Sprintf("team-%04d", i), "Deployment/web"},
				Amount: Amount{Micro: 1 + r.Int64N(20_000_000), Rest: r.Uint64N(unit)},
			})
		}
		p.round(0)
		h = h.With(&p)
	}
	return h
}

// TestHistorySize: a month of 5,000 namespaces fits a ConfigMap, and so does the ledger
// on each of its days. The sizes are in docs/spend.md.
func TestHistorySize(t *testing.T) {
	const most = 900 << 10 // the limit of what a store writes
	h := someHistory(t, 31, 5_000)
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	size := packed(t, text)
	t.Logf("a month of 31 days with %d rows takes %d KiB", h.Rows(), size>>10)
	if size > most || h.Rows() != 5_000 {
		t.Errorf("31 days with %d rows take %d bytes, want 5000 in at most %d", h.Rows(), size, most)
	}
	s := large()
	l := New(s)
	for range 8 { // the history cannot be written for days
		s.Time = s.Time.AddDate(0, 0, 1)
		l = l.Advance(s)
	}
	for name, days := range map[string]Days{"as usual": l.Days.Recorded(func(*Period) bool { return true }), "with seven ended days": l.Days} {
		l := l
		l.Days = days
		kept := l.Trim(l.Entries())
		if text, err = kept.Encode(); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s, the ledger of 5,000 namespaces with %d rows today takes %d KiB", name, len(kept.Days.Today.Rows), packed(t, text)>>10)
	}
}

func TestHistoryWith(t *testing.T) {
	first := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	period := func(from, to int, micro int64, estimated bool) *Period {
		return &Period{From: first.AddDate(0, 0, from), To: first.AddDate(0, 0, to), Estimated: estimated, Rows: []Row{{Rented: Rented{Pool: "general"}, Holder: Holder{Kind: Idle}, Amount: Amount{Micro: micro}}}}
	}
	for name, tc := range map[string]struct {
		reason string
		put    []*Period
		want   []int64
	}{
		"in order":             {"days are sorted", []*Period{period(1, 2, 2, false), period(0, 1, 1, false)}, []int64{1, 2}},
		"again":                {"a day that is written again, after a crash, replaces itself", []*Period{period(0, 1, 1, false), period(0, 1, 7, false)}, []int64{7}},
		"estimate after days":  {"days that are known stay when a new ledger estimates them", []*Period{period(0, 1, 1, false), period(1, 2, 2, false), period(0, 5, 9, true)}, []int64{1, 2}},
		"estimate before days": {"a day that becomes known ends an estimate that spans it", []*Period{period(0, 5, 9, true), period(1, 2, 2, false)}, []int64{2}},
		"estimate alone":       {"an estimate is better than nothing", []*Period{period(0, 5, 9, true), period(5, 6, 2, false)}, []int64{9, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			h := NewHistory(first)
			for _, p := range tc.put {
				h = h.With(p)
			}
			var got []int64
			for i := range h.Periods {
				got = append(got, h.Periods[i].Rows[0].Amount.Micro)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDecodeHistory(t *testing.T) {
	h := someHistory(t, 2, 3)
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := DecodeHistory(text)
	if diff := cmp.Diff(h, back); diff != "" || err != nil {
		t.Fatalf("%v: -want +got\n%s", err, diff)
	}
	for name, tc := range map[string]struct {
		reason   string
		old, new string
		want     string
	}{
		"newer":   {"another version may mean something else", `{"version":1`, `{"version":2`, "written by a newer version"},
		"month":   {"it names its month", `"month":"2026-03-01`, `"month":"2026-03-02`, "not the start of a month"},
		"outside": {"a day belongs to its month", `"from":"2026-03-01`, `"from":"2026-02-01`, "want ended periods of the month"},
		"key":     {"a row names what there is", `"r":[0,`, `"r":[9,`, "row 0: no such key"},
		"columns": {"each row has each column", `"r":[0,`, `"r":[`, "different lengths"},
		"amount":  {"nothing costs less than nothing", `"micro":[`, `"micro":[-`, "row 0: amount"},
	} {
		t.Run(name, func(t *testing.T) {
			spoilt := strings.Replace(string(text), tc.old, tc.new, 1)
			if _, err := DecodeHistory([]byte(spoilt)); err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, ErrNewer) != (name == "newer") {
				t.Errorf("%s: got error %v, want %q", tc.reason, err, tc.want)
			}
		})
	}
}

// TestDaysOfANewerVersion: the sums of a ledger whose days cannot be read still hold.
func TestDaysOfANewerVersion(t *testing.T) {
	l := New(cluster(rand.New(rand.NewPCG(2, 2)), 3))
	text, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode([]byte(strings.Replace(string(text), `"days":{"version":1`, `"days":{"version":2`, 1)))
	if err != nil || !back.Days.IsZero() || back.Total() != l.Total() {
		t.Errorf("%+v of %+v, days %+v: %v", back.Total(), l.Total(), back.Days, err)
	}
}

func FuzzDecodeHistory(f *testing.F) {
	text, err := someHistory(f, 2, 3).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":1,"month":"2026-03-01T00:00:00Z","rented":[{}],"holders":[{}],"periods":[{"from":"2026-03-01T00:00:00Z","to":"2026-03-01T00:00:00Z","r":[0],"h":[0],"micro":[1]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		h, err := DecodeHistory(text)
		if err != nil {
			return
		}
		again, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeHistory(again)
		if err != nil || len(back.Periods) != len(h.Periods) {
			t.Fatalf("read, but not again: %v", err)
		}
		total := func(h *History) (sum Amount) {
			for i := range h.Periods {
				sum.Plus(h.Periods[i].Total())
			}
			return sum
		}
		few := h.Trim(1)
		if total(&h) != total(&back) || total(&h) != total(&few) {
			t.Errorf("%+v, read again %+v, trimmed %+v", total(&h), total(&back), total(&few))
		}
	})
}
