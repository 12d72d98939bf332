package metric

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/test/kit/instancetype"
)

// values returns the counters and gauges whose names have one of the prefixes, by name
// and label values, without zeros.
func values(t *testing.T, reg *prometheus.Registry, prefixes ...string) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := strings.TrimPrefix(f.GetName(), "karpenter_")
			for _, l := range m.GetLabel() {
				name += " " + l.GetValue()
			}
			for _, p := range prefixes {
				if v := m.GetGauge().GetValue() + m.GetCounter().GetValue(); v != 0 && strings.HasPrefix(name, p) {
					out[name] = v
				}
			}
		}
	}
	return out
}

// seen returns a cluster in which one node is empty, one is being replaced, one is
// being deleted, and one is unmanaged.
func seen() *model.Snapshot {
	room := model.Resources{model.CPU: 4000, model.Memory: 8 << 30}
	node := func(name string) model.Node {
		return model.Node{
			Name: name, Claim: name, State: model.Initialized, InstanceType: "m.1", Zone: "a", CapacityType: model.Spot,
			Price: 100_000, Extra: 25_000, Allocatable: room,
		}
	}
	s := &model.Snapshot{
		Time: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC),
		Pools: []model.Pool{{
			Name: "general", Limits: model.Resources{model.CPU: 100_000}, Usage: model.Resources{model.CPU: 12_000, model.NodeCount: 3},
			Disruption: model.Disruption{AllowedEmpty: 3, AllowedUnderutilized: 1},
		}},
		Catalogs: []model.Catalog{instancetype.Catalog(
			instancetype.Of("m.1", room, instancetype.Spot("a", 100_000), instancetype.SoldOut(instancetype.Spot("b", 90_000))),
		)},
		Nodes: []model.Node{node("empty"), node("moved"), node("leaving"), {Name: "theirs", Pool: -1, State: model.Unmanaged, Allocatable: room}},
		Specs: []model.PodSpec{{Requests: model.Resources{model.CPU: 1000}}},
		Pods:  []model.Pod{{Node: 1}, {Node: 1, Daemon: true}, {Node: 2}, {Node: -1}},
	}
	s.Nodes[1].Command = &model.Command{Method: "Underutilized", Replacements: []string{"new"}}
	s.Nodes[2].State = model.Deleting
	return s
}

func TestState(t *testing.T) {
	reg := prometheus.NewPedanticRegistry() // it compares labels with descriptions
	shared, err := NewReconcilers(reg)
	if err != nil {
		t.Fatal(err)
	}
	m := NewDecisions(reg, shared)
	began := seen().Time.Add(-time.Minute)
	m.cluster.failed(began)
	m.cluster.failed(began.Add(20 * time.Second))
	want := map[string]float64{"cluster_state_unsynced_time_seconds": 20}
	if diff := cmp.Diff(want, values(t, reg, "cluster_state_")); diff != "" {
		t.Errorf("no snapshot for 20 seconds (-want +got):\n%s", diff)
	}
	m.Observe(seen(), &decide.Decision{Eligible: map[disrupt.Method]int{disrupt.Empty: 1}}, 0)
	want = map[string]float64{
		"cluster_state_synced": 1, "cluster_state_node_count": 4,
		"cluster_utilization_percent cpu":                                18.75, // 3 of 16 cores
		"nodepools_usage general cpu":                                    12,
		"nodepools_usage general nodes":                                  3,
		"nodepools_limit general cpu":                                    100,
		"nodepools_cost_total general":                                   0.375,
		"nodepools_allowed_disruptions general Empty":                    2, // one is being replaced
		"nodepools_nodes_consuming_budgets general Empty":                2,
		"nodepools_nodes_consuming_budgets general Underutilized":        2,
		"nodepools_nodes_consuming_budgets general Drifted":              2,
		"voluntary_disruption_eligible_nodes empty":                      1,
		"nodes_total_daemon_requests  spot m.1 moved general   cpu a":    1,
		"nodes_total_pod_requests  spot m.1 moved general   cpu a":       1,
		"nodes_total_pod_requests  spot m.1 leaving general   cpu a":     1,
		"cloudprovider_instance_type_cpu_cores m.1":                      4,
		"cloudprovider_instance_type_memory_bytes m.1":                   8 << 30,
		"cloudprovider_instance_type_offering_available spot m.1 a":      1, // and not in zone b
		"cloudprovider_instance_type_offering_price_estimate spot m.1 a": 0.1,
		"cloudprovider_instance_type_offering_price_estimate spot m.1 b": 0.09,
	}
	got := values(t, reg, "cluster_", "nodepools_", "voluntary_", "nodes_total", "cloudprovider_")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics of a cluster (-want +got):\n%s", diff)
	}
}

func TestVoluntary(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		decision decide.Decision
		done     cluster.Change
		want     map[string]float64
	}{
		"empty": {
			reason:   "an empty node was deleted",
			decision: decide.Decision{Disruptions: []decide.Disruption{{Node: 0, Method: disrupt.Empty, Go: true}}},
			done:     cluster.Change{Deleted: []string{"empty"}},
			want:     map[string]float64{"decisions_total empty delete empty": 1, "decisions_by_nodepool_total empty delete general empty": 1},
		},
		"tainted": {
			reason:   "an empty node was tainted only: it is judged again",
			decision: decide.Decision{Disruptions: []decide.Disruption{{Node: 0, Method: disrupt.Empty, Go: true}}},
			want:     map[string]float64{},
		},
		"begun": {
			reason: "two nodes make way for one",
			decision: decide.Decision{Commands: []decide.Command{{
				Method: disrupt.Underutilized, Stage: decide.Start, Nodes: []int32{0, 2}, Replacements: make([]model.PlannedNode, 1),
			}}},
			done: cluster.Change{Marked: []string{"empty", "leaving"}},
			want: map[string]float64{"decisions_total multi replace underutilized": 1, "decisions_by_nodepool_total multi replace general underutilized": 1},
		},
		"failed": {
			reason:   "the replacement did not become a node",
			decision: decide.Decision{Commands: []decide.Command{{Method: disrupt.Underutilized, Stage: decide.Undo, Nodes: []int32{1}}}},
			done:     cluster.Change{Unmarked: []string{"moved"}},
			want:     map[string]float64{"queue_failures_total single replace underutilized": 1},
		},
		"invalid": {
			reason:   "the replacement is there, and prices have changed",
			decision: decide.Decision{Commands: []decide.Command{{Method: disrupt.Underutilized, Stage: decide.Undo, Invalid: true, Nodes: []int32{1}}}},
			done:     cluster.Change{Unmarked: []string{"moved"}},
			want:     map[string]float64{"failed_validations_total single": 1},
		},
		"drifted": {
			reason:   "a drifted node goes without a replacement",
			decision: decide.Decision{Commands: []decide.Command{{Method: disrupt.Drifted, Stage: decide.Start, Nodes: []int32{0}}}},
			done:     cluster.Change{Marked: []string{"empty"}},
			want:     map[string]float64{"decisions_total  delete drifted": 1, "decisions_by_nodepool_total  delete general drifted": 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			reg := prometheus.NewRegistry()
			newDisruptionMetrics(reg).acted(seen(), &tc.decision, &tc.done)
			got := map[string]float64{}
			for key, v := range values(t, reg, "voluntary_disruption_") {
				got[strings.TrimPrefix(key, "voluntary_disruption_")] = v
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
