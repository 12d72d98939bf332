package alerts

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/rules"
)

// occasion is what happens to some series, and whether an alert fires.
type occasion struct {
	reason, series string
	// at is when the alert is looked at, since the first sample.
	at time.Duration
	// firing are the summaries of what fires; none if nothing does.
	firing []string
}

// TestAlerts: each alert fires when it has to, not before its time has come, and not when all is well.
func TestAlerts(t *testing.T) {
	seen := map[string][2]bool{}
	for name, occasions := range cases {
		for _, o := range occasions {
			t.Run(name+"/"+o.reason, func(t *testing.T) {
				w := newWorld(t, o.series)
				w.until(t, o.at)
				got := w.firing(t, name)
				slices.Sort(got)
				if diff := cmp.Diff(o.firing, got); diff != "" {
					t.Errorf("%s: at %s (-want +got)\n%s", o.reason, o.at, diff)
				}
			})
			both := seen[name]
			both[min(1, len(o.firing))] = true
			seen[name] = both
		}
	}
	var all []string
	for _, g := range newWorld(t, "").groups {
		for _, r := range g.AlertingRules() {
			all = append(all, r.Name())
			if seen[r.Name()] != [2]bool{true, true} {
				t.Errorf("%s has no case in which it fires, or none in which it does not", r.Name())
			}
		}
	}
	for name := range cases {
		if !slices.Contains(all, name) {
			t.Errorf("there are cases of %s, and no such alert", name)
		}
	}
}

// TestRecorded: each recording rule gives the figure that its name promises.
func TestRecorded(t *testing.T) {
	w := newWorld(t, recordedSeries)
	w.until(t, 60*time.Minute)
	for _, g := range w.groups {
		for _, r := range g.Rules() {
			if _, ok := r.(*rules.RecordingRule); !ok {
				continue
			}
			want, ok := records[r.Name()]
			if !ok {
				t.Errorf("nothing is expected of %s", r.Name())
				continue
			}
			if diff := cmp.Diff(want, w.recorded(t, r.Name())); diff != "" {
				t.Errorf("%s (-want +got)\n%s", r.Name(), diff)
			}
		}
	}
}
