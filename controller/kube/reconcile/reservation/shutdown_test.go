package reservation

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"spokeshave.dev/test/kit/eventually"
)

// looks counts the calls that list nodes.
type looks struct {
	client.Client
	n atomic.Int32
}

func (l *looks) List(context.Context, client.ObjectList, ...client.ListOption) error {
	l.n.Add(1)
	return errors.New("enough seen")
}

// TestReleaserWaits: a controller that has lost its lease exits at once and must not
// write any more. One that is stopped waits for its releases.
func TestReleaserWaits(t *testing.T) {
	c, now := &looks{}, clocktesting.NewFakeClock(time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	done := make(chan error, 1)
	go func() { done <- (&Releaser{Client: c, Clock: now}).Start(ctx) }()
	eventually.True(t, "it to wait, or to look", func() bool { return now.HasWaiters() || c.n.Load() > 0 })
	if n := c.n.Load(); n != 0 {
		t.Fatalf("it has looked %d times, want it to wait first", n)
	}
	now.Step(pollInterval)
	if err := <-done; err != nil || c.n.Load() != 1 {
		t.Errorf("%v, and %d looks; want one after the wait", err, c.n.Load())
	}
}
