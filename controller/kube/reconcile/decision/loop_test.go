package decision

import (
	"testing"
	"time"

	"spokeshave.dev/controller/core/decide"
)

// TestNext: when a policy keeps a node until a time, the next decision is made at that
// time, and not before unless something changes.
func TestNext(t *testing.T) {
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		retry  []time.Duration
		want   time.Duration
	}{
		"nothing due": {reason: "every so often in any case", want: time.Hour},
		"held":        {reason: "the first hold to end", retry: []time.Duration{9 * time.Minute, 7 * time.Minute}, want: 7 * time.Minute},
		"far":         {reason: "a hold that outlasts the interval", retry: []time.Duration{3 * time.Hour}, want: time.Hour},
		"past":        {reason: "one that has ended is no reason to spin", retry: []time.Duration{-time.Minute}, want: validation},
	} {
		t.Run(name, func(t *testing.T) {
			d := &decide.Decision{Time: now, Disruptions: []decide.Disruption{{}}} // one for which no time is known
			for _, after := range tc.retry {
				d.Disruptions = append(d.Disruptions, decide.Disruption{RetryAt: now.Add(after)})
			}
			if got := (&Loop{Config: Config{Every: time.Hour}}).next(d); got != tc.want {
				t.Errorf("%s: look again in %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
