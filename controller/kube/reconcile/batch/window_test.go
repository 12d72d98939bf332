package batch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// event is one call of a window's method, at a time after the start.
type event struct {
	at   time.Duration
	call func(*Window, time.Time)
}

const ms = time.Millisecond

// every returns n arrivals, each a gap after the one before, the first at from.
func every(n int, from, gap time.Duration) []event {
	out := make([]event, 0, n)
	for i := range n {
		out = append(out, event{from + time.Duration(i)*gap, (*Window).Arrive})
	}
	return out
}

func join(series ...[]event) []event {
	var out []event
	for _, s := range series {
		out = append(out, s...)
	}
	return out
}

// batches replays events in the order of their times and returns when each batch ended,
// rounded to milliseconds, and with how many events.
func batches(idle, most time.Duration, events []event) (ends []time.Duration, sizes []int) {
	start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	w := &Window{Idle: idle, Max: most}
	open := 0
	finish := func() {
		ends, sizes = append(ends, w.end.Sub(start).Round(ms)), append(sizes, open)
		w.Close()
		open = 0
	}
	for _, e := range events {
		at := start.Add(e.at)
		if open > 0 && w.Left(at) == 0 {
			finish()
		}
		e.call(w, at)
		open++
	}
	if open > 0 {
		finish()
	}
	return ends, sizes
}

// TestWindow: batches over series of arrivals.
func TestWindow(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		idle   time.Duration
		most   time.Duration
		events []event
		ends   []time.Duration
		sizes  []int
	}{
		"alone": {
			reason: "a pod that comes alone waits next to nothing",
			events: every(1, 0, 0), ends: []time.Duration{100 * ms}, sizes: []int{1},
		},
		"at once": {
			reason: "pods that come together wait as one",
			events: every(50, 0, 0), ends: []time.Duration{100 * ms}, sizes: []int{50},
		},
		"far apart": {
			reason: "pods further apart than the idle wait are no stream",
			events: every(3, 0, 5*time.Second), ends: []time.Duration{100 * ms, 5100 * ms, 10100 * ms}, sizes: []int{1, 1, 1},
		},
		"dense": {
			reason: "20 pods a second: 5 gaps of 50 ms after the last one",
			events: every(100, 0, 50*ms), ends: []time.Duration{4950*ms + 250*ms}, sizes: []int{100},
		},
		"slow": {
			reason: "the first arrival tells no gap; from the second on the stream is taken whole",
			events: every(6, 0, 200*ms), ends: []time.Duration{100 * ms, 2 * time.Second}, sizes: []int{1, 5},
		},
		"slowest": {
			reason: "the wait is never longer than idle",
			events: every(6, 0, 900*ms), ends: []time.Duration{100 * ms, 5500 * ms}, sizes: []int{1, 5},
		},
		"hiccup": {
			reason: "a gap of 140 ms is bridged by 5 gaps of 50 ms, and remembered: 1040 + 5 × 140 × 0.95⁹ ms",
			events: join(every(10, 0, 50*ms), every(10, 590*ms, 50*ms)), ends: []time.Duration{1481 * ms}, sizes: []int{20},
		},
		"longest": {
			reason: "a stream that does not end is cut at the maximum, and the next batch knows its gaps",
			most:   2 * time.Second,
			events: every(50, 0, 90*ms), ends: []time.Duration{2000 * ms, 4070 * ms, 4860 * ms}, sizes: []int{23, 23, 4},
		},
		"change": {
			reason: "a changed NodePool is decided about at once",
			events: []event{{0, (*Window).Change}}, ends: []time.Duration{100 * ms}, sizes: []int{1},
		},
		"change in a stream": {
			reason: "a change shortens no wait for pods",
			events: join(every(3, 0, 90*ms), []event{{200 * ms, (*Window).Change}}), ends: []time.Duration{630 * ms}, sizes: []int{4},
		},
		"expected": {
			reason: "pods with a planned place are decided about once in a while, however many come",
			events: []event{{0, (*Window).Expect}, {500 * ms, (*Window).Expect}, {900 * ms, (*Window).Expect}, {1200 * ms, (*Window).Expect}},
			ends:   []time.Duration{time.Second, 2200 * ms}, sizes: []int{3, 1},
		},
		"expected, then another": {
			reason: "the other does not wait for them",
			events: []event{{0, (*Window).Expect}, {300 * ms, (*Window).Arrive}}, ends: []time.Duration{400 * ms}, sizes: []int{2},
		},
		"another, then expected": {
			reason: "they keep no batch open",
			events: []event{{0, (*Window).Arrive}, {50 * ms, (*Window).Expect}, {90 * ms, (*Window).Expect}}, ends: []time.Duration{100 * ms}, sizes: []int{3},
		},
		"short idle": {
			reason: "a user's shorter idle wait wins over the floor",
			idle:   30 * ms,
			events: every(1, 0, 0), ends: []time.Duration{30 * ms}, sizes: []int{1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			idle, most := tc.idle, tc.most
			if idle == 0 {
				idle = time.Second
			}
			if most == 0 {
				most = 10 * time.Second
			}
			ends, sizes := batches(idle, most, tc.events)
			if diff := cmp.Diff(tc.ends, ends); diff != "" {
				t.Errorf("%s: ends (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.sizes, sizes); diff != "" {
				t.Errorf("%s: sizes (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBacklog: a batch that ended while a decision was being made is due at once.
func TestBacklog(t *testing.T) {
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	w := &Window{Idle: time.Second, Max: 10 * time.Second}
	if left := w.Left(now); left != 0 {
		t.Errorf("no batch is open, and %s are left of it", left)
	}
	w.Arrive(now)
	if left := w.Left(now.Add(3 * time.Second)); left != 0 {
		t.Errorf("%s are left of a batch that ended", left)
	}
}

// TestHold: a batch stays open while owners are known whose first pod is still to come, and
// pods come.
func TestHold(t *testing.T) {
	start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		events []event
		at     time.Duration
		want   time.Duration
	}{
		"nothing came":   {reason: "no batch is open", want: 0},
		"just over":      {reason: "the caller looks again soon", events: every(1, 0, 0), at: 100 * ms, want: 100 * ms},
		"a pod expected": {reason: "pods that were expected show that the burst goes on", events: []event{{0, (*Window).Arrive}, {900 * ms, (*Window).Expect}}, at: 1500 * ms, want: 100 * ms},
		"silence":        {reason: "no pod has come for the idle wait", events: every(1, 0, 0), at: time.Second, want: 0},
		"almost silence": {reason: "not beyond the idle wait", events: every(1, 0, 0), at: 970 * ms, want: 30 * ms},
		"maximum":        {reason: "a batch has an end in any case", events: every(200, 0, 50*ms), at: 9960 * ms, want: 40 * ms},
		"maximum over":   {reason: "as above", events: every(220, 0, 50*ms), at: 10 * time.Second, want: 0},
		"only changes":   {reason: "a change of something else is decided about at once", events: []event{{0, (*Window).Change}}, at: 100 * ms, want: 0},
		"only expected":  {reason: "their places are planned", events: []event{{0, (*Window).Expect}}, at: time.Second, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := &Window{Idle: time.Second, Max: 10 * time.Second}
			for _, e := range tc.events {
				e.call(w, start.Add(e.at))
			}
			if got := w.Hold(start.Add(tc.at)); got != tc.want {
				t.Errorf("%s: held for %s, want %s", tc.reason, got, tc.want)
			}
			if got := w.Left(start.Add(tc.at)); tc.want > 0 && got != tc.want {
				t.Errorf("%s: %s are left, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
