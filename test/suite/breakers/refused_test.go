package breakers

import (
	"strings"
	"testing"
	"time"

	"spokeshave.dev/controller/kube/reconcile/breaker"
	"spokeshave.dev/test/kit/demand"
)

// TestRecordRefused: admission refuses the record of breakers for good. Passes go on. An instance
// whose claim is not known is ended only if it was launched before what is on record; all others
// wait for somebody, also after a restart and when nothing is on record. They do so once the record is
// accepted again, too.
func TestRecordRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		// known says that something is on record when the refusals begin.
		known, restarted bool
		// want is how many instances run once the claim of one from before has been lost.
		want int
	}{
		"nothing on record":           {reason: "the API server may have forgotten any", want: 6},
		"nothing on record, restarts": {reason: "the API server may have forgotten any", restarted: true, want: 6},
		"on record":                   {reason: "the API server knows what was launched before", known: true, want: 5},
		"on record, restarts":         {reason: "the API server knows what was launched before", known: true, restarted: true, want: 5},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFleet(t)
			var end func()
			if !tc.known {
				end = demand.Label(t, f.client, namespace, "owner")
			}
			old := f.launch(t, "old", 5)
			f.collect(t, 2)
			if tc.known {
				end = demand.Label(t, f.client, namespace, "owner")
			}
			f.advance(time.Hour)
			f.collect(t, 2)
			since := f.launch(t, "new", 1)
			f.collect(t, 2)
			f.wantInstances(t, "nothing is lost", 6)
			if tc.restarted {
				f.restart()
			}
			f.lose(t, old[:1])
			f.collect(t, 3)
			f.wantInstances(t, tc.reason, tc.want)
			if tc.restarted {
				f.restart()
			}
			f.lose(t, since)
			f.collect(t, 4)
			f.wantInstances(t, "the claim of a new one is lost", tc.want)
			f.said(t, "DisruptionStopped", "instances", "the API server refuses ConfigMap", "every ConfigMap needs a label owner", "additionalLabels")
			if !f.controller.breaker.Stopped(breaker.GarbageCollection, "") {
				t.Error("it is not stopped")
			}
			end()
			f.collect(t, 3)
			f.wantInstances(t, "accepted again", tc.want)
			f.allow(t, breaker.GarbageCollection)
			f.collect(t, 2)
			f.wantInstances(t, "allowed", 4)
		})
	}
}

// TestAcceptedAfterARestore: the API server goes back in time while the record is refused, to a moment after what
// is on record, and accepts the record afterwards. What was launched in between is asked about.
func TestAcceptedAfterARestore(t *testing.T) {
	f := newFleet(t)
	f.launch(t, "old", 5)
	f.collect(t, 2)
	end := demand.Label(t, f.client, namespace, "owner")
	f.advance(time.Hour)
	since := f.launch(t, "new", 2)
	f.collect(t, 3)
	f.lose(t, since)
	end()
	f.collect(t, 3)
	f.wantInstances(t, "the claims are lost, and the record is accepted", 7)
	f.said(t, "DisruptionStopped", "2 instances were launched after")
}

// TestExpiryWhileRefused: the clock cannot be compared with the API server's while the record is
// refused. All that is due counts as overdue then, of which the limit bounds how much expires (TestExpiryByAWrongClock).
func TestExpiryWhileRefused(t *testing.T) {
	f := newFleet(t)
	f.launch(t, "node", 30)
	demand.Label(t, f.client, namespace, "owner")
	f.collect(t, 2)
	b := f.controller.breaker
	if !b.Compared() || !b.Overdue(f.clock.Now()) || !strings.Contains(b.WhyOverdue(), "cannot be compared") {
		t.Errorf("compared %v, overdue %v%s", b.Compared(), b.Overdue(f.clock.Now()), b.WhyOverdue())
	}
}

// TestDriftWhileRefused: the record of a NodePool's inputs is old, and a new one is refused: that they differ explains
// nothing, because nobody knows since when they do. An edit that this controller sees explains drift.
func TestDriftWhileRefused(t *testing.T) {
	f := newFleet(t)
	f.launch(t, "node", 1)
	f.collect(t, 2)
	f.controller.breaker.Explained("general", breaker.Inputs{Version: "1", Spec: "1", Resolved: "a"})
	f.collect(t, 2)
	end := demand.Label(t, f.client, namespace, "owner")
	f.advance(24 * time.Hour)
	for _, refused := range []bool{true, false} {
		f.restart()
		b := f.controller.breaker
		if b.Synced() {
			t.Fatal("synced before the first pass")
		}
		f.collect(t, 1)
		if !b.Synced() {
			t.Fatal("not synced after the first pass")
		}
		if got := b.Explained("general", breaker.Inputs{Version: "1", Spec: "2", Resolved: "a"}); got == refused {
			t.Errorf("refused %v: an edit of unknown age explains drift: %v", refused, got)
		}
		f.collect(t, 1)
		if !b.Explained("general", breaker.Inputs{Version: "1", Spec: "3", Resolved: "a"}) {
			t.Errorf("refused %v: an edit that is seen explains nothing", refused)
		}
		end()
	}
}
