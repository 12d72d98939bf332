package metric

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/cluster"
	"spokeshave.dev/test/kit/instancetype"
)

// figures are the samples of the metrics named, as name{value,value} by label.
func figures(t *testing.T, reg *prometheus.Registry, names ...string) map[string]float64 {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, name := range names {
			if f.GetName() != name {
				continue
			}
			for _, m := range f.GetMetric() {
				var labels []string
				for _, l := range m.GetLabel() {
					labels = append(labels, l.GetValue())
				}
				key := fmt.Sprintf("%s{%s}", name, strings.Join(labels, ","))
				if h := m.GetHistogram(); h != nil {
					out[key+" count"], out[key+" sum"] = float64(h.GetSampleCount()), h.GetSampleSum()
					continue
				}
				out[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return out
}

// town returns a cluster at a minute: two spot nodes, one of them new, an on-demand
// node where spot is allowed, one where it is not, and one in flight.
func town(minute int) *model.Snapshot {
	at := time.Date(2026, 3, 11, 9, minute, 0, 0, time.UTC)
	onDemand := []model.Requirement{{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: []string{"on-demand"}}}
	node := func(name string, pool int32, capacity model.CapacityType, price model.Price, age time.Duration) model.Node {
		return model.Node{Name: name, Claim: name, Pool: pool, InstanceType: "m5.large", Zone: "a", CapacityType: capacity, Price: price, LaunchedAt: at.Add(-age), State: model.Initialized}
	}
	return &model.Snapshot{
		Time: at, Pools: []model.Pool{{Name: "general"}, {Name: "steady", Requirements: onDemand}},
		Catalogs: []model.Catalog{instancetype.Catalog(
			instancetype.Of("m5.large", nil, instancetype.Spot("b", 10_000), instancetype.Spot("a", 30_000), instancetype.OnDemand("a", 96_000)),
		)},
		Nodes: []model.Node{
			node("old", 0, model.Spot, 30_000, time.Hour), node("new", 0, model.Spot, 30_000, 15*time.Minute),
			node("fell back", 0, model.OnDemand, 96_000, time.Hour), node("steady", 1, model.OnDemand, 96_000, time.Hour),
			{Name: "coming", Claim: "coming", State: model.InFlight, Reserved: 100_000},
		},
		Specs: []model.PodSpec{{}},
		Pods: []model.Pod{
			{Namespace: "shop", Name: "a", Workload: "Deployment/web", Node: 0},
			{Namespace: "shop", Name: "b", Workload: "Deployment/web", Node: 1},
			{Namespace: "shop", Name: "c", Workload: "Deployment/web", Node: -1},
			{Namespace: "shop", Name: "log", Workload: "DaemonSet/log", Node: 0, Daemon: true},
		},
	}
}

func metricsOf(t *testing.T) (*Decisions, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewRegistry()
	shared, err := NewReconcilers(reg)
	if err != nil {
		t.Fatal(err)
	}
	return NewDecisions(reg, shared), reg
}

// TestNodeMetrics: nodes are counted by kind, with the hours they ran and the cost of
// falling back to on-demand.
func TestNodeMetrics(t *testing.T) {
	m, reg := metricsOf(t)
	m.Observe(town(0), &decide.Decision{}, 0)
	m.Observe(town(30), &decide.Decision{}, 0)
	want := map[string]float64{
		"spokeshave_nodes{spot,m5.large,general}":      2,
		"spokeshave_nodes{on-demand,m5.large,general}": 1,
		"spokeshave_nodes{on-demand,m5.large,steady}":  1,
		"spokeshave_nodes{,,general}":                  1,
		// Half an hour of the old one, and all of the new one's quarter.
		"spokeshave_node_hours_total{spot,general}":      0.75,
		"spokeshave_node_hours_total{on-demand,general}": 0.5,
		"spokeshave_node_hours_total{on-demand,steady}":  0.5,
		"spokeshave_spot_fallback_nodes{general}":        1,
		"spokeshave_spot_fallback_usd{general}":          0.066,
		"spokeshave_workload_pods{shop,Deployment/web}":  2,
		"spokeshave_spend_running_usd{general}":          0.156,
		"spokeshave_spend_running_usd{steady}":           0.096,
		"spokeshave_spend_in_flight_usd{general}":        0.1,
		"spokeshave_spend_in_flight_usd{steady}":         0,
	}
	got := figures(t, reg, "spokeshave_nodes", "spokeshave_node_hours_total", "spokeshave_spot_fallback_nodes", "spokeshave_spot_fallback_usd",
		"spokeshave_workload_pods", "spokeshave_spend_running_usd", "spokeshave_spend_in_flight_usd")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestDoubtfulNodes: nodes that are not what they say, and those without a known price, are
// counted as long as they are there.
func TestDoubtfulNodes(t *testing.T) {
	m, reg := metricsOf(t)
	s := town(0)
	s.Nodes[0].Mislabelled, s.Nodes[1].Mislabelled, s.Nodes[2].PriceAssumed = true, true, true
	for _, step := range []struct {
		s    *model.Snapshot
		want map[string]float64
	}{
		{s, map[string]float64{"spokeshave_nodes_mislabelled{}": 2, "spokeshave_nodes_price_assumed{}": 1}},
		{town(1), map[string]float64{"spokeshave_nodes_mislabelled{}": 0, "spokeshave_nodes_price_assumed{}": 0}},
	} {
		m.Observe(step.s, &decide.Decision{}, 0)
		if diff := cmp.Diff(step.want, figures(t, reg, "spokeshave_nodes_mislabelled", "spokeshave_nodes_price_assumed")); diff != "" {
			t.Errorf("-want +got\n%s", diff)
		}
	}
}

// TestFiguresOfDeletedPools: nodes of a deleted NodePool count under its name until
// they are gone; soon afterwards no series has the name.
func TestFiguresOfDeletedPools(t *testing.T) {
	m, reg := metricsOf(t)
	without := func(minute int) *model.Snapshot {
		s := town(minute)
		s.Pools = s.Pools[:1]
		s.Nodes[3].Pool, s.Nodes[3].PoolName = -1, "steady"
		return s
	}
	m.Observe(town(0), &decide.Decision{}, 0)
	m.Observe(without(30), &decide.Decision{}, 0)
	const nodes, hours, running = "spokeshave_nodes{on-demand,m5.large,steady}", "spokeshave_node_hours_total{on-demand,steady}", "spokeshave_spend_running_usd{steady}"
	got := figures(t, reg, "spokeshave_nodes", "spokeshave_node_hours_total", "spokeshave_spend_running_usd")
	if got[nodes] != 1 || got[hours] != 0.5 || got[running] != 0.096 {
		t.Errorf("while its node drains: %g nodes, %g hours, %g $/h; want 1, 0.5 and 0.096", got[nodes], got[hours], got[running])
	}
	s := without(45)
	s.Nodes = s.Nodes[:3]
	s.Time = without(30).Time.Add(10 * time.Second)
	m.Observe(s, &decide.Decision{}, 0)
	if got := figures(t, reg, "spokeshave_node_hours_total")[hours]; got != 0.5 {
		t.Errorf("its hours are %g right after its end, want 0.5: a scrape must see the last ones", got)
	}
	s.Time = without(45).Time
	m.Observe(s, &decide.Decision{}, 0)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, of := range f.GetMetric() {
			for _, l := range of.GetLabel() {
				if l.GetValue() == "steady" {
					t.Errorf("%s still speaks of NodePool steady: %v", f.GetName(), of)
				}
			}
		}
	}
}

// TestFallback: a node with a pod that requires on-demand does not count as a fallback.
func TestFallback(t *testing.T) {
	term := func(values ...string) model.Term {
		return model.Term{{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: values}}
	}
	for name, tc := range map[string]struct {
		reason string
		spec   model.PodSpec
		daemon bool
		want   float64
	}{
		"any":      {reason: "a pod that asks for nothing", want: 1},
		"selector": {reason: "on-demand is what it selects", spec: model.PodSpec{NodeSelector: map[string]string{"karpenter.sh/capacity-type": "on-demand"}}},
		"affinity": {reason: "no term of it allows spot", spec: model.PodSpec{Affinity: []model.Term{term("on-demand"), term("on-demand", "reserved")}}},
		"either":   {reason: "one of its terms allows spot", spec: model.PodSpec{Affinity: []model.Term{term("on-demand"), term("spot", "on-demand")}}, want: 1},
		"zone":     {reason: "its terms speak of something else", spec: model.PodSpec{Affinity: []model.Term{{{Key: "zone", Operator: model.In, Values: []string{"a"}}}}}, want: 1},
		"daemon":   {reason: "a DaemonSet's pod takes what there is", spec: model.PodSpec{NodeSelector: map[string]string{"karpenter.sh/capacity-type": "on-demand"}}, daemon: true, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m, reg := metricsOf(t)
			s := town(0)
			s.Specs = append(s.Specs, tc.spec)
			s.Pods = append(s.Pods, model.Pod{Namespace: "shop", Name: "db", Spec: 1, Node: 2, Daemon: tc.daemon})
			m.Observe(s, &decide.Decision{}, 0)
			want := map[string]float64{"spokeshave_spot_fallback_nodes{general}": tc.want} // a share is taken of 0, too
			if diff := cmp.Diff(want, figures(t, reg, "spokeshave_spot_fallback_nodes")); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// TestCompletedMetrics: disruptions are counted when they are carried out, with the
// pods that had to move.
func TestCompletedMetrics(t *testing.T) {
	m, reg := metricsOf(t)
	s := town(0)
	s.Nodes[0].Command, s.Nodes[1].Command = &model.Command{Replacements: []string{"r"}}, &model.Command{Replacements: []string{"r"}}
	d := &decide.Decision{
		Disruptions: []decide.Disruption{{Node: 3, Go: true, Method: "Empty"}, {Node: 2, Go: true, Method: "Empty"}},
		Commands: []decide.Command{
			{Stage: decide.Finish, Method: "Underutilized", Nodes: []int32{0, 1}}, {Stage: decide.Wait, Method: "Underutilized", Nodes: []int32{2}},
		},
	}
	m.Disrupted(s, d, &cluster.Change{Deleted: []string{"old", "new", "steady"}}) // not "fell back": its deletion did not come about
	want := map[string]float64{
		"spokeshave_disruptions_total{replace,Underutilized}":              1,
		"spokeshave_disruptions_total{delete,Empty}":                       1,
		"spokeshave_disruption_evicted_pods{Underutilized} count":          1,
		"spokeshave_disruption_evicted_pods{Underutilized} sum":            2,
		"spokeshave_disruption_evicted_pods{Empty} count":                  1,
		"spokeshave_disruption_evicted_pods{Empty} sum":                    0,
		"karpenter_nodeclaims_disrupted_total{spot,general,underutilized}": 2,
		"karpenter_nodeclaims_disrupted_total{on-demand,steady,empty}":     1,
	}
	got := figures(t, reg, "spokeshave_disruptions_total", "spokeshave_disruption_evicted_pods", "karpenter_nodeclaims_disrupted_total")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestPendingFigures: the wait of a pod that was unschedulable at first counts once,
// from its creation.
func TestPendingFigures(t *testing.T) {
	m, reg := metricsOf(t)
	now := time.Unix(1_800_000_000, 0)
	m.Bound("", now.Add(-40*time.Second), now, true)
	m.Bound("", now.Add(time.Second), now, true)   // a clock that is behind
	m.Bound("", now.Add(-time.Second), now, false) // found a place at once
	want := map[string]float64{"spokeshave_pod_pending_seconds{} count": 2, "spokeshave_pod_pending_seconds{} sum": 40}
	if diff := cmp.Diff(want, figures(t, reg, "spokeshave_pod_pending_seconds")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
