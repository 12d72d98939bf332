package fleet

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"spokeshave.dev/controller/cloud/provider"
)

// TestArrive: a claim waits for the others of its request, and learns at once that they
// have come, or that one has left for another attempt.
func TestArrive(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		then   func(context.Context, *sharedLaunch)
		want   provider.Kind // empty: the request may be sent
		after  time.Duration
	}{
		"all came":  {"the last one lets all of them go on", func(ctx context.Context, s *sharedLaunch) { _ = s.arrive(ctx, "b") }, "", 0},
		"one left":  {"those that wait for it start anew", func(_ context.Context, s *sharedLaunch) { s.dissolve() }, provider.Stale, 0},
		"sent once": {"a predecessor has sent the request", func(_ context.Context, s *sharedLaunch) { s.release() }, "", 0},
		"no one":    {"the call ends, and the claim comes again", func(context.Context, *sharedLaunch) {}, provider.Unavailable, arrivalWait},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &sharedLaunch{claims: []string{"a", "b"}, arrived: map[string]bool{}, ready: make(chan struct{}), void: make(chan struct{})}
				begun, returned := time.Now(), make(chan error)
				go func() { returned <- s.arrive(t.Context(), "a") }()
				synctest.Wait() // it waits
				tc.then(t.Context(), s)
				err := <-returned
				if (err == nil) != (tc.want == "") || err != nil && provider.KindOf(err) != tc.want {
					t.Errorf("%s: %v, want kind %q", tc.reason, err, tc.want)
				}
				if took := time.Since(begun); took != tc.after {
					t.Errorf("%s: after %s, want %s", tc.reason, took, tc.after)
				}
			})
		})
	}
}
