package breaker

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
)

// TestMetrics: what is stopped is counted by kind, and leaves when its reason is gone.
func TestMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	b := &Breaker{Events: events.NewFakeRecorder(10), Clock: clocktesting.NewFakePassiveClock(start), Metrics: NewMetrics(reg)}
	want := func(reason string, counts map[string]float64) {
		t.Helper()
		families, err := reg.Gather()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				got[m.GetLabel()[0].GetValue()] = m.GetGauge().GetValue()
			}
		}
		if diff := cmp.Diff(counts, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", reason, diff)
		}
	}
	stop := func(kind Kind, pool string) {
		if err := b.Stop(t.Context(), kind, pool, "for a reason"); err != nil {
			t.Fatal(err)
		}
	}
	want("nothing yet", map[string]float64{"drift": 0, "expiration": 0, "garbage-collection": 0})
	stop(Drift, "web")
	stop(Drift, "batch")
	stop(Drift, "web")
	stop(GarbageCollection, "")
	want("two NodePools, one of them twice", map[string]float64{"drift": 2, "expiration": 0, "garbage-collection": 1})
	b.Clear(Drift, "web")
	b.Clear(GarbageCollection, "")
	want("one is left", map[string]float64{"drift": 1, "expiration": 0, "garbage-collection": 0})
}
