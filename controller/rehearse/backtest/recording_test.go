package backtest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/record/journal"
)

// record returns the record that a controller writes for a snapshot with these pods, at
// minutes after the beginning.
func record(t *testing.T, minutes int, pods ...model.Pod) journal.Record {
	t.Helper()
	s := workload(0, "on-demand").Base
	s.Time, s.Pods = monday().Add(time.Duration(minutes)*time.Minute), pods
	s.Nodes = []model.Node{{Name: "own", Pool: -1}}
	in := &journal.Decided{Snapshot: &s, Decision: &decide.Decision{ID: "d"}}
	r, err := journal.NewRecord(in)
	if err == nil {
		err = r.Keep(in, "spokeshave")
	}
	if err != nil {
		t.Fatal(err)
	}
	return *r
}

// TestRecorded: pods arrive at their creation and end at the first record without them,
// and the recorded workload can be run.
func TestRecorded(t *testing.T) {
	pod := func(name string, created int) model.Pod {
		return model.Pod{UID: name, Name: name, Namespace: "shop", Spec: 1, Node: -1, Created: monday().Add(time.Duration(created) * time.Minute)}
	}
	elsewhere, daemon := pod("elsewhere", 0), pod("daemon", 0)
	elsewhere.Node, daemon.Daemon = 0, true
	records := []journal.Record{
		record(t, 0, pod("old", -60), elsewhere, daemon),
		{Entry: journal.Entry{ID: "bare"}},
		record(t, 30, pod("old", -60), pod("short", 20)),
		record(t, 50, pod("old", -60)),
		record(t, 90, pod("old", -60)),
	}
	w, err := Recorded(records)
	if err != nil {
		t.Fatal(err)
	}
	want := []Pod{
		{Namespace: "shop", Name: "old", Arrival: monday()},
		{Namespace: "shop", Name: "short", Arrival: monday().Add(20 * time.Minute), Lifetime: 30 * time.Minute},
	}
	if diff := cmp.Diff(want, w.Pods); diff != "" || len(w.Base.Specs) != 1 {
		t.Errorf("%d specs, -want +got\n%s", len(w.Base.Specs), diff)
	}
	r, err := Run(t.Context(), Config{Workload: w})
	if err != nil || r.Pods != 2 || r.Launches == 0 || r.Pending != 0 {
		t.Errorf("%v %+v", err, r)
	}
	for name, tc := range map[string]struct {
		records []journal.Record
		want    string
	}{
		"bare": {records[1:2], "--decision-log-inputs"},
		"one":  {records[:1], "a single moment"},
		"back": {[]journal.Record{records[3], records[0]}, "goes back"},
	} {
		if _, err := Recorded(tc.records); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// TestRecordedBudgets: as many pods may be away at once as the largest number that the
// recorded budgets allowed.
func TestRecordedBudgets(t *testing.T) {
	of := func(minutes int, allowed int32, waiting ...int) journal.Record {
		s := workload(0, "on-demand").Base
		s.Time = monday().Add(time.Duration(minutes) * time.Minute)
		s.Nodes = []model.Node{{Name: "n", Pool: 0}}
		s.Budgets = []model.PodBudget{{Namespace: "shop", Name: "b", Allowed: allowed, Selector: model.PodSelector{Namespaces: []string{"shop"}}}}
		for i, node := range waiting {
			s.Pods = append(s.Pods, model.Pod{UID: string(rune('a' + i)), Name: string(rune('a' + i)), Namespace: "shop", Node: int32(node)})
		}
		in := &journal.Decided{Snapshot: &s, Decision: &decide.Decision{ID: "d"}}
		r, err := journal.NewRecord(in)
		if err == nil {
			err = r.Keep(in, "spokeshave")
		}
		if err != nil {
			t.Fatal(err)
		}
		return *r
	}
	w, err := Recorded([]journal.Record{of(0, 1, 0, 0, 0), of(1, 2, 0, 0, -1), of(2, 0, -1, -1, -1)})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Budgets) != 1 || w.Budgets[0].Away(3) != 3 {
		t.Errorf("%d budgets, %d pods may be away, want 3: two more while one waited", len(w.Budgets), w.Budgets[0].Away(3))
	}
}
