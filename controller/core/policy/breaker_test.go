package policy

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestBreaker(t *testing.T) {
	var b Breaker
	now := time.Unix(1000, 0)
	fault := func() error { return &Fault{Kind: FaultTrap, Message: "x"} }
	good := func() error { return nil }
	asked := func(call func() error) bool {
		var f *Fault
		err := b.Ask(now, call)
		return !errors.As(err, &f) || f.Kind != FaultTripped
	}
	for range 2 {
		asked(fault)
	}
	asked(func() error { return context.Canceled })
	if !asked(good) {
		t.Fatal("open before three faults in a row")
	}
	for range 3 {
		if !asked(fault) {
			t.Fatal("open too early")
		}
	}
	if asked(good) || !b.Stats().Tripped {
		t.Fatal("closed after three faults in a row")
	}
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		now = now.Add(pause - time.Millisecond)
		if asked(fault) {
			t.Fatalf("asked before %v were over", pause)
		}
		now = now.Add(time.Millisecond)
		if !asked(fault) {
			t.Fatalf("not asked after %v", pause)
		}
	}
	now = now.Add(time.Hour)
	if !asked(good) || b.Stats().Tripped {
		t.Fatal("open after a good answer")
	}
	got := b.Stats()
	if got.Faults != 8 || got.Calls != 11 {
		t.Fatalf("%+v", got)
	}
}

// TestBreakerNotAsked: a policy that waits for another one is counted as failing, and asked again.
func TestBreakerNotAsked(t *testing.T) {
	var b Breaker
	now := time.Unix(1000, 0)
	waits := &Fault{Kind: FaultDeadline, Message: "it is being loaded", NotAsked: true}
	for range 2 * breakerFaults {
		if err := b.Ask(now, func() error { return waits }); !errors.Is(err, waits) {
			t.Fatal(err)
		}
	}
	if got := b.Stats(); got.Tripped || got.Faults != 2*breakerFaults || got.LastFault != waits.Error() {
		t.Fatalf("%+v", got)
	}
	if err := b.Ask(now, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
}
