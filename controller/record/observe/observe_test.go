package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/spend"
	"spokeshave.dev/test/kit/instancetype"
)

func at(minute int) time.Time { return time.Date(2026, 3, 11, 9, minute, 0, 0, time.UTC) }

func snapshot(minute int, nodes ...model.Node) *model.Snapshot {
	catalog := instancetype.Catalog(instancetype.Of("m.1", nil, instancetype.OnDemand("a", 100_000), instancetype.Spot("a", 30_000)))
	catalog.NodeCost = 2_000
	return &model.Snapshot{
		Time: at(minute), Nodes: nodes, Pools: []model.Pool{{Name: "general"}},
		Pods:     []model.Pod{{UID: "a", Node: -1}, {UID: "b", Node: -1}},
		Catalogs: []model.Catalog{catalog},
	}
}

func TestComparison(t *testing.T) {
	karpenters := model.Node{Name: "n1", Claim: "n1", State: model.Initialized, Price: 600_000}
	foreign := model.Node{Name: "n2", Pool: -1, State: model.Unmanaged, InstanceType: "m.1", Zone: "a"}
	wants := &decide.Decision{Plan: model.Plan{Nodes: []model.PlannedNode{{Pods: []int32{0}, Options: []model.Option{{Price: 28_000}}}}}}
	removes := &decide.Decision{Commands: []decide.Command{{Stage: decide.Start, Nodes: []int32{0}, Savings: 300_000}}}
	var o Observer
	o.Add(snapshot(0, karpenters), wants)             // a pod waits
	o.Add(snapshot(1, karpenters), wants)             // and still does
	o.Add(snapshot(5, karpenters, foreign), removes)  // the other autoscaler launched something; n1 could be replaced
	o.Add(snapshot(10, karpenters, foreign), removes) // and still could
	o.Add(snapshot(15, foreign), &decide.Decision{})  // n1 went by other hands
	o.Add(snapshot(40, foreign), &decide.Decision{})  // nobody looked for 25 minutes
	o.Add(snapshot(41, foreign), wants)               // the pod waits anew
	want := Hour{
		Start: at(0), Seconds: 16 * 60,
		// 5 minutes at 0.6, 10 at 0.702, 1 at 0.102
		Really: Side{Cost: spend.Amount{Micro: 168_700}, Launched: 1, Price: 102_000, Removed: 1},
		// 0.3 $/h less for 10 minutes of them
		Would: Side{Cost: spend.Amount{Micro: 118_700}, Launched: 2, Price: 60_000, Removed: 1},
	}
	r := o.Report()
	if diff := cmp.Diff(want, r.Total()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(Now{Time: at(41), Rate: 102_000, Launch: 1}, r.Now); diff != "" {
		t.Errorf("now: -want +got\n%s", diff)
	}
	later := r.Since(at(0).Add(2 * time.Hour))
	if len(later.Hours) != 0 {
		t.Errorf("hours after the last: %+v", later.Hours)
	}
}

func TestBounded(t *testing.T) {
	var o Observer
	for h := range 2 * keep {
		s := snapshot(0)
		s.Time = at(0).Add(time.Duration(h) * time.Hour)
		o.Add(s, &decide.Decision{})
	}
	if r := o.Report(); len(r.Hours) != keep || r.From != at(0).Add(keep*time.Hour) {
		t.Errorf("%d hours from %s", len(r.Hours), r.From)
	}
}

// TestKept: an Observer that has decoded the data of another one continues from it: the
// time between two decisions counts, and nothing counts twice.
func TestKept(t *testing.T) {
	node := model.Node{Name: "n1", Claim: "n1", State: model.Initialized, Price: 600_000}
	wants := &decide.Decision{
		Plan:        model.Plan{Nodes: []model.PlannedNode{{Pods: []int32{0}, Options: []model.Option{{Price: 28_000}}}}},
		Disruptions: []decide.Disruption{{Node: 0, Go: true}},
	}
	var whole, before, after Observer
	for minute := range 12 {
		whole.Add(snapshot(minute, node), wants)
		if minute < 6 {
			before.Add(snapshot(minute, node), wants)
			continue
		}
		if minute == 6 {
			text, err := before.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if err := after.Decode(text); err != nil {
				t.Fatal(err)
			}
		}
		after.Add(snapshot(minute, node), wants)
	}
	if diff := cmp.Diff(whole.Report(), after.Report()); diff != "" {
		t.Errorf("-one +two\n%s", diff)
	}
	r := after.Report()
	if total := r.Total(); total.Would.Launched != 1 || total.Would.Removed != 1 || total.Seconds != 11*60 {
		t.Errorf("%+v", total)
	}
}

func TestKeptRefused(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":      "spoilt",
		"from later":   `{"version":2}`,
		"out of order": `{"version":1,"hours":[{"start":"2026-03-11T09:00:00Z"},{"start":"2026-03-11T08:00:00Z"}]}`,
		"no amount":    `{"version":1,"hours":[{"start":"2026-03-11T09:00:00Z","really":{"cost":{"micro":-5}}}]}`,
	} {
		var o Observer
		o.Add(snapshot(0), &decide.Decision{})
		want := o.Report()
		if err := o.Decode([]byte(text)); err == nil || !cmp.Equal(want, o.Report()) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
