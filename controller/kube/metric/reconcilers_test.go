package metric

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestDisrupted(t *testing.T) {
	registry := prometheus.NewRegistry()
	first, err := NewReconcilers(registry)
	if err != nil {
		t.Fatal(err)
	}
	second, err := NewReconcilers(registry) // as another reconciler does
	if err != nil {
		t.Fatal(err)
	}
	of := Subject{NodePool: "general", CapacityType: "spot"}
	first.Disrupted(of, "Underutilized")
	second.Disrupted(of, "Underutilized")
	second.Disrupted(of, "spot_interrupted")
	(*Reconcilers)(nil).Disrupted(of, "Empty")
	if n := testutil.ToFloat64(first.disrupted.WithLabelValues("general", "spot", "underutilized")); n != 2 {
		t.Errorf("counted %v, want 2", n)
	}
	if n := testutil.CollectAndCount(registry, "karpenter_nodeclaims_disrupted_total"); n != 2 {
		t.Errorf("%d series, want 2", n)
	}
}

// TestTerminations: terminations are timed by NodePool. An instance whose termination
// was not requested has no time.
func TestTerminations(t *testing.T) {
	registry := prometheus.NewRegistry()
	s, err := NewReconcilers(registry)
	if err != nil {
		t.Fatal(err)
	}
	if err := Build(registry, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	of := Subject{NodePool: "general", CapacityType: "spot"}
	s.Terminated(of, 40*time.Second, 10*time.Second)
	s.Terminated(of, 2*time.Second, 0)
	s.NodeTerminated(of, 30*time.Second, 12*time.Hour)
	s.Eviction(429)
	s.Eviction(200)
	s.PodDrained("SpotInterrupted")
	got := map[string]string{}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			key := f.GetName()
			for _, l := range m.GetLabel() {
				if l.GetName() == "reason" || l.GetName() == "code" || l.GetName() == "version" {
					key += "/" + l.GetValue()
				}
			}
			if h := m.GetHistogram(); h != nil {
				got[key] = fmt.Sprintf("%d in %g s", h.GetSampleCount(), h.GetSampleSum())
				continue
			}
			if h := m.GetSummary(); h != nil {
				got[key] = fmt.Sprintf("%d in %g s", h.GetSampleCount(), h.GetSampleSum())
				continue
			}
			got[key] = fmt.Sprint(m.GetCounter().GetValue() + m.GetGauge().GetValue())
		}
	}
	want := map[string]string{
		"karpenter_build_info/1.2.3":                                 "1",
		"karpenter_nodeclaims_terminated_total":                      "2",
		"karpenter_nodeclaims_termination_duration_seconds":          "2 in 42 s",
		"karpenter_nodeclaims_instance_termination_duration_seconds": "1 in 10 s",
		"karpenter_nodes_terminated_total":                           "1",
		"karpenter_nodes_termination_duration_seconds":               "1 in 30 s",
		"karpenter_nodes_lifetime_duration_seconds":                  "1 in 43200 s",
		"karpenter_pods_eviction_requests_total/200":                 "1",
		"karpenter_pods_eviction_requests_total/429":                 "1",
		"karpenter_pods_drained_total/spot_interrupted":              "1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{"Empty": "empty", "SpotInterrupted": "spot_interrupted", "spot_interrupted": "spot_interrupted", "AMIDrift": "amidrift", "": ""} {
		if got := Snake(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
