package decision

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"spokeshave.dev/controller/kube/reconcile/batch"
)

const ms = time.Millisecond

type arrival struct {
	at      time.Duration
	owner   types.UID
	planned bool
}

// TestBatchesOfOwners: a pod extends a batch unless its owner has said that it would come.
func TestBatchesOfOwners(t *testing.T) {
	stream := func(owner types.UID, planned bool) []arrival {
		var out []arrival
		for i := range 5 {
			out = append(out, arrival{time.Duration(i) * 60 * ms, owner, planned})
		}
		return out
	}
	for name, tc := range map[string]struct {
		reason   string
		arrivals []arrival
		want     time.Duration // of the end, from the first arrival
	}{
		"no owner":     {reason: "nobody said that they would come: 5 gaps after the last", arrivals: stream("", false), want: 540 * ms},
		"one owner":    {reason: "the first told of all of them", arrivals: stream("a", false), want: 100 * ms},
		"another":      {reason: "a new owner extends the batch, by the gap between owners", arrivals: append(stream("a", false)[:2], arrival{80 * ms, "b", false}, arrival{90 * ms, "a", false}), want: 480 * ms},
		"planned":      {reason: "they were in the last snapshot, and make one decision a second", arrivals: stream("a", true), want: time.Second},
		"planned, new": {reason: "another pod does not wait for them", arrivals: append(stream("a", true), arrival{300 * ms, "", false}), want: 400 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
			b := batches{window: batch.Window{Idle: time.Second, Max: 10 * time.Second}}
			for _, a := range tc.arrivals {
				b.arrive(start.Add(a.at), a.owner, a.planned)
			}
			if got := b.left(start); got.Round(ms) != tc.want {
				t.Errorf("%s: the batch ends after %s, want %s", tc.reason, got, tc.want)
			}
			b.close()
			if b.arrive(start.Add(5*time.Second), "a", false); b.left(start.Add(5*time.Second)) != batch.Floor {
				t.Errorf("%s: the next batch remembers the owner", tc.reason)
			}
		})
	}
}

// TestBatchesHold: a batch that has ended is kept open while another owner is about to
// create pods.
func TestBatchesHold(t *testing.T) {
	start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	b := batches{window: batch.Window{Idle: time.Second, Max: 10 * time.Second}}
	b.arrive(start, "a", false)
	over := start.Add(batch.Floor)
	if got := b.hold(over, func() int { return 0 }); got != 0 {
		t.Errorf("held for %s, and nobody is about to create pods", got)
	}
	if got := b.hold(over, func() int { return 3 }); got != batch.Floor {
		t.Errorf("held for %s, want %s", got, batch.Floor)
	}
}

// TestBatchesClose: nothing is left of a batch that has ended.
func TestBatchesClose(t *testing.T) {
	start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	b := batches{window: batch.Window{Idle: time.Second, Max: 10 * time.Second}}
	b.arrive(start, "a", false)
	b.arrive(start.Add(9500*ms), "b", false)
	b.change(start.Add(10 * time.Second))
	b.close()
	if got := b.left(start.Add(10 * time.Second)); got != 0 || b.owners != nil {
		t.Errorf("the batch is open for %s after its end, with %v", got, b.owners)
	}
}
