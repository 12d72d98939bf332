package poolhealth

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestHealth(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	denied := Failure{Reason: "LaunchFailed", Message: "not authorised"}
	type step struct {
		registered bool
		launched   time.Duration // after start
		at         time.Duration
	}
	tests := map[string]struct {
		reason string
		steps  []step
		at     time.Duration
		want   Health
	}{
		"nothing yet": {"no outcome says nothing", nil, 0, Health{}},
		"one failure": {
			"one of the last four is not many, but the pool rests",
			[]step{{at: 5 * time.Minute}},
			5 * time.Minute,
			Health{Known: true, Healthy: true, Failure: denied, PausedUntil: start.Add(5*time.Minute + firstPause)},
		},
		"two failures": {
			"two of the last four are too many; both were launched before the pause",
			[]step{{at: 5 * time.Minute}, {at: 5*time.Minute + time.Second}},
			6 * time.Minute,
			Health{Known: true, Failure: denied},
		},
		"failed again": {
			"the second was launched after the first pause: the pause doubles",
			[]step{{at: 5 * time.Minute}, {launched: 6 * time.Minute, at: 11 * time.Minute}},
			11 * time.Minute,
			Health{Known: true, Failure: denied, PausedUntil: start.Add(11*time.Minute + 2*firstPause)},
		},
		"registered after": {
			"a node that registers ends the pause",
			[]step{{at: 5 * time.Minute}, {registered: true, at: 5 * time.Minute}},
			5 * time.Minute,
			Health{Known: true, Healthy: true, Failure: denied},
		},
		"long ago": {
			"only the last four outcomes count",
			[]step{{}, {}, {registered: true}, {registered: true}, {registered: true}},
			time.Hour,
			Health{Known: true, Healthy: true, Failure: denied},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var o Outcomes
			told := 0
			o.Notify(func(string) { told++ })
			for _, s := range tc.steps {
				if s.registered {
					o.Registered("general")
				} else {
					o.Failed("general", denied, start.Add(s.launched), start.Add(s.at))
				}
			}
			if diff := cmp.Diff(tc.want, o.Health("general", start.Add(tc.at))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if told != len(tc.steps) {
				t.Errorf("told of %d changes, want %d", told, len(tc.steps))
			}
			o.Forget("general")
			if got := o.Health("general", start); got != (Health{}) {
				t.Errorf("forgotten, and still %+v", got)
			}
		})
	}
}

// TestPauseIsBounded: failures without end keep a pool back for no more than maxPause.
func TestPauseIsBounded(t *testing.T) {
	var o Outcomes
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 20 {
		o.Failed("general", Failure{}, now, now)
		until := o.Health("general", now).PausedUntil
		if pause := until.Sub(now); pause < firstPause || pause > maxPause {
			t.Fatalf("paused for %s", pause)
		}
		now = until
	}
}
