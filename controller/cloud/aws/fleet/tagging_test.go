package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"spokeshave.dev/controller/cloud/provider"
)

// TestTagQueue: instances of many launches are tagged by one goroutine, each until it
// succeeds or cannot. Those that EC2 does not show yet keep nobody waiting.
func TestTagQueue(t *testing.T) {
	unseen := &provider.Error{Kind: provider.Unavailable, Err: errors.New("no such instance yet")}
	for name, tc := range map[string]struct {
		reason string
		// fails is how often each instance fails, and with what.
		fails   int
		failure error
		calls   int
		within  time.Duration
	}{
		"at once":              {"a call for each", 0, nil, 20, 2 * time.Second},
		"shown a little later": {"a second for all of them together, not for each", 1, unseen, 40, 5 * time.Second},
		"never shown":          {"five tries", 100, unseen, 100, 15 * time.Second},
		"refused":              {"no other try would help", 100, &provider.Error{Kind: provider.Invalid, Err: errors.New("no")}, 20, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				calls, busy, most := 0, 0, 0
				failed := map[string]int{}
				q := &tagQueue{clock: time.Now, tag: func(_ context.Context, id string, _ map[string]string) error {
					calls, busy = calls+1, busy+1
					most = max(most, busy)
					time.Sleep(100 * time.Millisecond) //nolint:forbidigo // time in the bubble: a call takes so long
					busy--
					if failed[id]++; failed[id] <= tc.fails {
						return tc.failure
					}
					return nil
				}}
				begun := time.Now()
				for launch := range 10 {
					q.add(t.Context(), []untagged{{providerID: fmt.Sprint(launch, "a")}, {providerID: fmt.Sprint(launch, "b")}})
				}
				for running := true; running; {
					time.Sleep(50 * time.Millisecond) //nolint:forbidigo // time in the bubble
					q.mu.Lock()
					running = q.running
					q.mu.Unlock()
				}
				if calls != tc.calls || most != 1 {
					t.Errorf("%s: %d calls, %d at the same time; want %d, one at a time", tc.reason, calls, most, tc.calls)
				}
				if took := time.Since(begun); took > tc.within+100*time.Millisecond {
					t.Errorf("%s: it took %s, want at most %s", tc.reason, took, tc.within)
				}
			})
		})
	}
}

// TestEndedAreNotTagged: what ends before its turn leaves the queue, whether it waits for its
// first try or for a further one.
func TestEndedAreNotTagged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls []string
		q := &tagQueue{clock: time.Now, tag: func(_ context.Context, id string, _ map[string]string) error {
			calls = append(calls, id)
			time.Sleep(100 * time.Millisecond) //nolint:forbidigo // time in the bubble: a call takes so long
			if id == "unseen" {
				return &provider.Error{Kind: provider.Unavailable, Err: errors.New("no such instance yet")}
			}
			return nil
		}}
		q.add(t.Context(), []untagged{{providerID: "unseen"}, {providerID: "lives"}, {providerID: "ended"}})
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // time in the bubble
		q.drop("ended")
		q.drop("another")                  // of no launch of this queue
		time.Sleep(200 * time.Millisecond) //nolint:forbidigo // time in the bubble: the first is tried again after a second
		q.drop("unseen")
		time.Sleep(10 * time.Second) //nolint:forbidigo // time in the bubble
		synctest.Wait()
		q.mu.Lock()
		defer q.mu.Unlock()
		if want := []string{"unseen", "lives"}; !slices.Equal(calls, want) {
			t.Errorf("tagged %q, want %q", calls, want)
		}
		if q.running || len(q.waiting) > 0 {
			t.Errorf("the queue runs: %v, with %d instances", q.running, len(q.waiting))
		}
	})
}
