package breakers

import (
	"testing"
	"time"

	"spokeshave.dev/controller/kube/reconcile/breaker"
)

// TestForgotIsMarked: a controller that starts after a backup was restored cannot tell by revisions. When it finds
// an instance that the API server has forgotten, it says so on record, once, and that it has not seen the
// API server before that: what it has read is what was restored. One that was there has seen it.
func TestForgotIsMarked(t *testing.T) {
	for name, restarted := range map[string]bool{"controller runs on": false, "controller restarts": true} {
		t.Run(name, func(t *testing.T) { forgotIsMarked(t, restarted) })
	}
}

func forgotIsMarked(t *testing.T, restarted bool) {
	t.Helper()
	f := newFleet(t)
	f.launch(t, "old", 5)
	f.collect(t, 2)
	if at, _ := breaker.Restored(f.controller.breaker); !at.IsZero() {
		t.Errorf("restored at %s, before anything was", at)
	}
	backup := f.record(t)
	f.advance(time.Hour)
	since := f.launch(t, "new", 2)
	f.collect(t, 2)
	f.lose(t, since)
	f.restore(t, backup)
	if restarted {
		f.restart()
	}
	f.collect(t, 2)
	at, good := breaker.Restored(f.controller.breaker)
	if at.IsZero() || good.IsZero() != restarted || !good.Before(at) {
		t.Errorf("restored at %s, last seen at %s", at, good)
	}
	f.collect(t, 3)
	if again, _ := breaker.Restored(f.controller.breaker); !again.Equal(at) {
		t.Errorf("it is found again at %s", again)
	}
	f.restart()
	f.collect(t, 2)
	if later, _ := breaker.Restored(f.controller.breaker); !later.Equal(at) {
		t.Errorf("the next controller knows %s, want %s", later, at)
	}
}

// TestRewoundIsTold: a replica that does not lead may be the only one that was there. What it puts on record
// the leader knows from then on, and keeps; of several replicas one does.
func TestRewoundIsTold(t *testing.T) {
	f := newFleet(t)
	f.launch(t, "node", 2)
	f.collect(t, 2)
	leader := f.controller.breaker
	replica := func() *breaker.Breaker {
		f.restart()
		return f.controller.breaker
	}
	first, second := replica(), replica()
	good := f.clock.Now().Add(-10 * time.Second)
	if err := breaker.Rewound(t.Context(), first, time.Time{}, good); err != nil {
		t.Fatal(err)
	}
	at, seen := breaker.Restored(first)
	if at.IsZero() || !seen.Equal(good) {
		t.Errorf("restored at %s, last seen at %s, want %s", at, seen, good)
	}
	f.advance(time.Minute)
	if err := breaker.Rewound(t.Context(), second, time.Time{}, good); err != nil {
		t.Fatal(err)
	}
	if err := leader.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, seen := breaker.Restored(leader); !got.Equal(at) || !seen.IsZero() {
		t.Errorf("the leader knows %s and says that it was there at %s, want %s and never", got, seen, at)
	}
	f.advance(time.Hour)
	if err := leader.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, got, err := breaker.Marks(t.Context(), f.client, namespace); err != nil || !got.Equal(at) {
		t.Errorf("on record is %s (%v), want %s", got, err, at)
	}
	// The next time, by a replica whose clock is behind.
	if err := breaker.Rewound(t.Context(), replica(), at, good); err != nil {
		t.Fatal(err)
	}
	if got, _ := breaker.Restored(f.controller.breaker); !got.After(at) {
		t.Errorf("the next time is %s, not after %s", got, at)
	}
}
