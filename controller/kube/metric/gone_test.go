package metric

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// seriesWith counts the series that have the label.
func seriesWith(t *testing.T, registry *prometheus.Registry, name, value string) int {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if l.GetName() == name && l.GetValue() == value {
					n++
				}
			}
		}
	}
	return n
}

// TestSeriesLeave: the series of a NodePool stay while it or a node of it is there, and
// leave soon afterwards; those of a policy leave when it was not asked for an hour.
func TestSeriesLeave(t *testing.T) {
	registry := prometheus.NewRegistry()
	shared, err := NewReconcilers(registry)
	if err != nil {
		t.Fatal(err)
	}
	m := NewDecisions(registry, shared)
	start := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	snapshot := func(after time.Duration, node bool, pools ...string) *model.Snapshot {
		s := &model.Snapshot{Time: start.Add(after)}
		for _, name := range pools {
			s.Pools = append(s.Pools, model.Pool{Name: name})
		}
		if node {
			s.Nodes = []model.Node{{Name: "n", Pool: -1, PoolName: "goes", CapacityType: model.Spot, LaunchedAt: start}}
		}
		return s
	}
	asked := &decide.Decision{Policies: []policy.Use{{Namespace: "spokeshave", Name: "rank", Calls: 1}}}
	m.Observe(snapshot(0, true, "goes", "stays"), asked, 0)
	for _, pool := range []string{"goes", "stays"} {
		of := Subject{NodePool: pool, CapacityType: "spot"}
		shared.Disrupted(of, "Empty")
		shared.Terminated(of, time.Second, time.Second)
		shared.NodeCreated(of)
		shared.NodeDrained(of)
		shared.NodeTerminated(of, time.Second, time.Hour)
		m.claims.WithLabelValues(pool, "provisioned", "false").Inc()
	}
	for _, step := range []struct {
		reason          string
		after           time.Duration
		node            bool
		goes, policyHas bool
	}{
		{"the pool is gone and its node is not", time.Minute, true, true, true},
		{"its node has just gone", time.Minute + 10*time.Second, false, true, true},
		{"its node is gone", 2 * time.Minute, false, false, true},
		{"the policy was not asked for an hour", 62 * time.Minute, false, false, false},
	} {
		m.Observe(snapshot(step.after, step.node, "stays"), &decide.Decision{}, 0)
		if n := seriesWith(t, registry, nodePool, "goes"); n > 0 != step.goes {
			t.Errorf("%s: %d series of its pool", step.reason, n)
		}
		if n := seriesWith(t, registry, "policy", "rank"); n > 0 != step.policyHas {
			t.Errorf("%s: %d series of the policy", step.reason, n)
		}
		if n := seriesWith(t, registry, nodePool, "stays"); n < 10 {
			t.Errorf("%s: %d series of the pool that stays", step.reason, n)
		}
	}
}
