package metric

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// TestProvisioned: pods count from the first decision with a place for them, until they
// are bound and until they run, and not after they are gone.
func TestProvisioned(t *testing.T) {
	reg := prometheus.NewRegistry()
	p := newProvisioned(reg)
	start := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	now := start
	p.now = func() time.Time { return now }
	s := &model.Snapshot{Time: start, Pods: []model.Pod{{UID: "a", Node: -1}, {UID: "b", Node: -1}, {UID: "unplaced", Node: -1}}}
	d := &decide.Decision{Plan: model.Plan{Nodes: []model.PlannedNode{{Pods: []int32{0}}}, Existing: []model.Assignment{{Pods: []int32{1}}}, Unplaced: []model.Unplaced{{Pod: 2}}}}
	p.observe(s, d)
	const unbound, unstarted = "karpenter_pods_provisioning_unbound_time_seconds", "karpenter_pods_provisioning_unstarted_time_seconds"
	check := func(when string, longest, running float64) {
		t.Helper()
		want := map[string]float64{unbound + "{}": longest, unstarted + "{}": running}
		if diff := cmp.Diff(want, figures(t, reg, unbound, unstarted)); diff != "" {
			t.Errorf("%s: -want +got\n%s", when, diff)
		}
	}
	now = start.Add(30 * time.Second)
	check("two wait", 30, 30)
	p.hasBound("a", now)
	p.hasBound("unplaced", now) // somebody else's doing
	s.Time = now
	p.observe(s, d) // planned again: the first decision counts
	now = start.Add(50 * time.Second)
	p.hasBound("b", now)
	check("both are bound", 0, 50)
	p.hasStarted("a", now)
	s.Pods = nil
	p.observe(s, &decide.Decision{})
	check("one runs, one is gone", 0, 0)
	p.hasStarted("b", now)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		if h := f.GetMetric()[0].GetHistogram(); h != nil {
			got[f.GetName()] = float64(h.GetSampleCount())*1000 + h.GetSampleSum()
		}
	}
	want := map[string]float64{"karpenter_pods_provisioning_bound_duration_seconds": 2080, "karpenter_pods_provisioning_startup_duration_seconds": 1050}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("thousands of samples and their sum in seconds: -want +got\n%s", diff)
	}
}
