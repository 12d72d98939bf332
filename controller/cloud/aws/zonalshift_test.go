package aws_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	sim "spokeshave.dev/simulator"
)

func (w *simulatedEC2) shift(t *testing.T, all ...sim.ZonalShift) {
	t.Helper()
	if err := w.server.Shift(all); err != nil {
		t.Fatal(err)
	}
}

func (w *simulatedEC2) shifts(t *testing.T) []provider.Shift {
	t.Helper()
	on, err := w.provider.ZonalShifts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return on
}

// open counts the available offerings by zone.
func (w *simulatedEC2) open(t *testing.T) (map[string]int, []string) {
	t.Helper()
	c := w.catalog(t, "default")
	out := map[string]int{}
	for i := range c.Types {
		for _, o := range c.Types[i].Offerings {
			if o.Available {
				out[o.Zone]++
			}
		}
	}
	return out, c.Away
}

func TestZonalShift(t *testing.T) {
	hour := func(w *simulatedEC2) *time.Time { return new(w.clock.Now().Add(time.Hour)) }
	for name, c := range map[string]struct {
		reason string
		shift  func(*simulatedEC2) []sim.ZonalShift
		want   []string
	}{
		"none":        {"nothing is shifted", func(*simulatedEC2) []sim.ZonalShift { return nil }, nil},
		"shift":       {"a person shifts away", func(w *simulatedEC2) []sim.ZonalShift { return []sim.ZonalShift{{Zone: "us-west-2a", Until: hour(w)}} }, []string{"us-west-2a"}},
		"autoshift":   {"AWS shifts away by itself", func(*simulatedEC2) []sim.ZonalShift { return []sim.ZonalShift{{Zone: "us-west-2b"}} }, []string{"us-west-2b"}},
		"not applied": {"another shift takes precedence", func(*simulatedEC2) []sim.ZonalShift { return []sim.ZonalShift{{Zone: "us-west-2a", Ignored: true}} }, nil},
		"two": {"two zones at once", func(w *simulatedEC2) []sim.ZonalShift {
			return []sim.ZonalShift{{Zone: "us-west-2b"}, {Zone: "us-west-2a", Until: hour(w)}}
		}, []string{"us-west-2a", "us-west-2b"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEC2Of(t, "m7i.")
			before, _ := w.open(t)
			generation := w.catalog(t, "default").Generation
			w.shift(t, c.shift(w)...)
			w.shifts(t)
			open, away := w.open(t)
			if diff := cmp.Diff(c.want, away); diff != "" {
				t.Errorf("%s: away from (-want +got):\n%s", c.reason, diff)
			}
			for _, zone := range c.want {
				delete(before, zone)
			}
			if diff := cmp.Diff(before, open); diff != "" {
				t.Errorf("%s: available offerings by zone (-want +got):\n%s", c.reason, diff)
			}
			if changed := w.catalog(t, "default").Generation != generation; changed != (len(c.want) > 0) {
				t.Errorf("%s: the generation changed: %t", c.reason, changed)
			}
		})
	}
}

// What was planned before the shift is not launched into the zone after it.
func TestZonalShiftAtLaunch(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	w.shift(t, sim.ZonalShift{Zone: "us-west-2a"})
	w.shifts(t)
	only := option("m7i.large", "us-west-2a", model.OnDemand)
	_, err := w.provider.Prepare(t.Context(), spec("a", only))
	wantKind(t, err, provider.InsufficientCapacity)
	i, err := w.provider.Launch(t.Context(), w.prepare(t, spec("b", only, option("m7i.large", "us-west-2b", model.OnDemand))))
	if err != nil || i.Zone != "us-west-2b" {
		t.Errorf("launched in %q, %v; want us-west-2b", i.Zone, err)
	}
	w.shift(t)
	w.shifts(t)
	if i, err := w.provider.Launch(t.Context(), w.prepare(t, spec("c", only))); err != nil || i.Zone != "us-west-2a" {
		t.Errorf("after the shift: launched in %q, %v", i.Zone, err)
	}
}

// TestZonalShiftAge: how old the zonal shifts are shows from the first asking on, and after ten
// minutes without an answer that they are stale.
func TestZonalShiftAge(t *testing.T) {
	w, read := measured(t)
	const readAt, isStale, what = "spokeshave_aws_market_updated_timestamp_seconds", "spokeshave_aws_market_stale", "zonal shifts"
	if _, shown := read(isStale)[what]; shown {
		t.Error("zonal shifts that nobody asks for have an age")
	}
	w.order(t, sim.Fault{Action: "GetManagedResource", HTTPStatus: 500, Forever: true})
	var answered time.Time
	for _, step := range []struct {
		reason    string
		after     time.Duration
		mended    bool
		wantStale float64
	}{
		{"never read, and not for long", 0, false, 0},
		{"never read for ten minutes", 10 * time.Minute, false, 1},
		{"ARC answers", time.Minute, true, 0},
		{"the last answer is nine minutes old", 9 * time.Minute, false, 0},
		{"the last answer is ten minutes old", time.Minute, false, 1},
	} {
		w.clock.Step(step.after)
		if step.mended {
			w.server.ClearFaults()
			answered = w.clock.Now()
		}
		if _, err := w.provider.ZonalShifts(t.Context()); (err == nil) != step.mended {
			t.Fatalf("%s: %v", step.reason, err)
		}
		if step.mended {
			w.order(t, sim.Fault{Action: "GetManagedResource", HTTPStatus: 500, Forever: true})
		}
		want := float64(0)
		if !answered.IsZero() {
			want = float64(answered.Unix())
		}
		at, shown := read(readAt)[what]
		if !shown || at != want || read(isStale)[what] != step.wantStale {
			t.Errorf("%s: read at %v (shown: %t), stale %v; want %v and %v", step.reason, at, shown, read(isStale)[what], want, step.wantStale)
		}
		var names []string
		for _, each := range w.provider.Sources().Stale() {
			names = append(names, each.What)
		}
		if slices.Contains(names, what) != (step.wantStale == 1) {
			t.Errorf("%s: people are told that %q are stale", step.reason, names)
		}
	}
}

// While ARC does not answer, what it said holds until it would have expired.
func TestZonalShiftWithoutAnswer(t *testing.T) {
	w := newEC2Of(t, "m7i.")
	w.shift(t, sim.ZonalShift{Zone: "us-west-2a", Until: new(w.clock.Now().Add(time.Hour))}, sim.ZonalShift{Zone: "us-west-2b"})
	if on := w.shifts(t); len(on) != 2 {
		t.Fatalf("shifts %v, want two", on)
	}
	w.order(t, sim.Fault{Action: "GetManagedResource", HTTPStatus: 500, Forever: true})
	if on, err := w.provider.ZonalShifts(t.Context()); err == nil || len(on) != 2 {
		t.Errorf("without an answer: %v, %v; want both, and an error", on, err)
	}
	w.clock.Step(61 * time.Minute)
	if on, err := w.provider.ZonalShifts(t.Context()); err == nil || len(on) != 1 || on[0].ZoneID != "usw2-az2" {
		t.Errorf("after an hour: %v, %v; want the autoshift alone", on, err)
	}
	if _, away := w.open(t); !cmp.Equal(away, []string{"us-west-2b"}) {
		t.Errorf("away from %v", away)
	}
	w.server.ClearFaults()
	w.order(t, sim.Fault{Action: "GetManagedResource", Code: "ResourceNotFoundException"})
	if on, err := w.provider.ZonalShifts(t.Context()); err != nil || len(on) != 0 {
		t.Errorf("a cluster that is not enabled for it: %v, %v; want none", on, err)
	}
	if n := w.requests("DescribeCluster"); n > 2 {
		t.Errorf("%d calls for the cluster's ARN, want one (and one for its details)", n)
	}
}
