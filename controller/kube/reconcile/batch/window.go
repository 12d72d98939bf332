// Package batch decides when a batch of arriving pods ends. It has no clock and no
// goroutines: the caller passes the time.
package batch

import "time"

const (
	// Floor is the shortest wait after an arrival. A scheduler that finds the pods of one
	// workload unschedulable does so within this time of each other.
	Floor = 100 * time.Millisecond
	// gaps is how many times the gap between arrivals the window waits for the next one.
	gaps = 5
)

// Window says when a batch ends: after the last arrival it stays open for a multiple of
// the gaps that it has seen between arrivals, at least for [Floor] and at most for Idle. A
// pod that comes alone waits for Floor, and a stream of pods is taken whole, up to Max.
//
// The gap is the longest of late: a longer one replaces it at once, and it shrinks in
// proportion to the time that passes. After Idle without an arrival nothing is known of
// the next stream.
//
// The zero value with Idle and Max set is ready. It is not safe for concurrent use.
type Window struct {
	// Idle is the longest wait for another arrival. Max is the longest time that a batch
	// stays open, counted from its first event.
	Idle, Max time.Duration

	last time.Time     // the last arrival, of whatever batch
	gap  time.Duration // the longest gap of late between two arrivals
	seen time.Time     // the last pod that came, expected or not

	begin, end time.Time // of the open batch; begin is zero when none is open
	// patient says that the open batch has seen nothing but expected arrivals; arrived that
	// it has seen one that was not expected.
	patient, arrived bool
}

// Arrive records that a pod came that nobody had announced.
func (w *Window) Arrive(now time.Time) {
	if since := now.Sub(w.last); !w.last.IsZero() && since >= 0 && since < w.Idle {
		shrunk := time.Duration(float64(w.gap) * (1 - float64(since)/float64(w.Idle)))
		w.gap = max(since, shrunk)
	} else {
		w.gap = 0
	}
	w.last, w.seen, w.arrived = now, now, true
	w.extend(now, min(max(gaps*w.gap, Floor), w.Idle))
}

// Change records that something else asks for a decision. It says nothing about the pods
// that will come.
func (w *Window) Change(now time.Time) { w.extend(now, min(Floor, w.Idle)) }

// Expect records that a pod came that was known to come. Its decision can wait for Idle, and
// it keeps no batch open.
func (w *Window) Expect(now time.Time) {
	w.seen = now
	if w.begin.IsZero() {
		w.begin, w.end, w.patient = now, now.Add(min(w.Idle, w.Max)), true
	}
}

// extend keeps the batch open until now+wait at least. A batch of expected arrivals only
// ends then, if that is sooner.
func (w *Window) extend(now time.Time, wait time.Duration) {
	if w.begin.IsZero() {
		w.begin = now
	}
	end := now.Add(wait)
	if w.patient || end.After(w.end) {
		w.end = end
	}
	w.patient = false
	if last := w.begin.Add(w.Max); w.end.After(last) {
		w.end = last
	}
}

// Left returns for how long the open batch still waits, 0 when it has ended or when none
// is open.
func (w *Window) Left(now time.Time) time.Duration {
	if w.begin.IsZero() {
		return 0
	}
	return max(0, w.end.Sub(now))
}

// Hold keeps a batch open that has ended, because owners of pods are known whose first pod
// is still to come, and returns for how long: for Floor, so that the caller looks again, and
// no longer than until no pod at all has come for Idle, or until Max. A batch that saw only
// expected pods or other changes is not kept open. It returns 0 when the batch is over.
func (w *Window) Hold(now time.Time) time.Duration {
	if w.begin.IsZero() || !w.arrived {
		return 0
	}
	end := now.Add(Floor)
	for _, last := range []time.Time{w.seen.Add(w.Idle), w.begin.Add(w.Max)} {
		if end.After(last) {
			end = last
		}
	}
	if !end.After(now) {
		return 0
	}
	w.end = end
	return end.Sub(now)
}

// Close ends the batch. The next event opens another.
func (w *Window) Close() {
	w.begin, w.end, w.patient, w.arrived = time.Time{}, time.Time{}, false, false
}
