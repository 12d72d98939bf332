package metric

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestDisrupted(t *testing.T) {
	registry := prometheus.NewRegistry()
	first, err := New(registry)
	if err != nil {
		t.Fatal(err)
	}
	second, err := New(registry) // as another reconciler does
	if err != nil {
		t.Fatal(err)
	}
	of := Subject{NodePool: "general", CapacityType: "spot"}
	first.Disrupted(of, "Underutilized")
	second.Disrupted(of, "Underutilized")
	second.Disrupted(of, "spot_interrupted")
	(*Set)(nil).Disrupted(of, "Empty")
	if n := testutil.ToFloat64(first.disrupted.WithLabelValues("general", "spot", "underutilized")); n != 2 {
		t.Errorf("counted %v, want 2", n)
	}
	if n := testutil.CollectAndCount(registry, "karpenter_nodeclaims_disrupted_total"); n != 2 {
		t.Errorf("%d series, want 2", n)
	}
}

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{"Empty": "empty", "SpotInterrupted": "spot_interrupted", "spot_interrupted": "spot_interrupted", "AMIDrift": "amidrift", "": ""} {
		if got := Snake(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
