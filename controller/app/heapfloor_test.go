package app

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"spokeshave.dev/test/kit/eventually"
)

func TestFloorPercent(t *testing.T) {
	for name, tc := range map[string]struct {
		reason      string
		live, other uint64
		want        int
	}{
		"start":  {"there was no collection", 0, 0, 100},
		"small":  {"at most as much again as is scanned", 14e6, 6e6, 100},
		"idle":   {"up to the floor", 40e6, 10e6, 60},
		"full":   {"up to the floor", 60e6, 0, 16},
		"filled": {"a share of the heap at least", 65e6, 5e6, 15},
		"large":  {"a share of the heap", 400e6, 5e6, 15},
	} {
		if got := floorPercent(tc.live, tc.other); got != tc.want {
			t.Errorf("%s: GOGC=%d for %d and %d bytes, want %d: %s", name, got, tc.live, tc.other, tc.want, tc.reason)
		}
	}
}

// TestFollowHeap: GOGC follows the live heap from collection to collection, and an
// administrator's stays.
func TestFollowHeap(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(77))
	percent := func() uint64 {
		runtime.GC()
		time.Sleep(time.Millisecond) //nolint:forbidigo // it is set a moment after a collection
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	followHeap(func(string) (string, bool) { return "77", true })
	if got := percent(); got != 77 {
		t.Errorf("an administrator's GOGC of 77 became %d", got)
	}
	followHeap(func(string) (string, bool) { return "", false })
	large := make([]byte, 2*heapFloor)
	eventually.True(t, "the share of a large heap", func() bool { return percent() == leastPercent })
	runtime.KeepAlive(large)
	eventually.True(t, "the share of a small heap", func() bool { return percent() > leastPercent })
}
