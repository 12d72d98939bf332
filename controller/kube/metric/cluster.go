package metric

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/model"
)

// clusterMetrics are the metrics of the cluster in the last snapshot.
type clusterMetrics struct {
	synced, unsynced, nodes  prometheus.Gauge
	usage, limit, cost, used *prometheus.GaugeVec
	inventory                *inventory
	// failingSince is when snapshots began to fail; zero while they do not.
	failingSince time.Time
}

func newClusterMetrics(reg prometheus.Registerer) *clusterMetrics {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	vec := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	s := &clusterMetrics{
		synced:    gauge("karpenter_cluster_state_synced", "1 when the last snapshot could be taken, 0 otherwise."),
		unsynced:  gauge("karpenter_cluster_state_unsynced_time_seconds", "For how long no snapshot could be taken."),
		nodes:     gauge("karpenter_cluster_state_node_count", "Nodes of the last snapshot, those in flight and those of others included."),
		usage:     vec("karpenter_nodepools_usage", "What the nodes of a NodePool have in all; cpu in cores, the rest in the resource's unit.", "nodepool", "resource_type"),
		limit:     vec("karpenter_nodepools_limit", "spec.limits of a NodePool, in the same units.", "nodepool", "resource_type"),
		cost:      vec("karpenter_nodepools_cost_total", "What the nodes of a NodePool cost, in USD per hour.", "nodepool"),
		used:      vec("karpenter_cluster_utilization_percent", "Share of the nodes' allocatable resources that pods request.", "resource_type"),
		inventory: newInventory(),
	}
	reg.MustRegister(s.synced, s.unsynced, s.nodes, s.usage, s.limit, s.cost, s.used, s.inventory)
	return s
}

// failed records that no snapshot could be taken.
func (s *clusterMetrics) failed(now time.Time) {
	if s.failingSince.IsZero() {
		s.failingSince = now
	}
	s.synced.Set(0)
	s.unsynced.Set(now.Sub(s.failingSince).Seconds())
}

func (s *clusterMetrics) observe(snap *model.Snapshot) {
	s.failingSince = time.Time{}
	s.synced.Set(1)
	s.unsynced.Set(0)
	s.nodes.Set(float64(len(snap.Nodes)))
	s.usage.Reset()
	s.limit.Reset()
	s.cost.Reset()
	for i := range snap.Pools {
		p := &snap.Pools[i]
		for name, n := range p.Usage {
			s.usage.WithLabelValues(p.Name, name).Set(unit(name, n))
		}
		for name, n := range p.Limits {
			s.limit.WithLabelValues(p.Name, name).Set(unit(name, n))
		}
		s.cost.WithLabelValues(p.Name)
	}
	for i := range snap.Nodes {
		if n := &snap.Nodes[i]; n.Pool >= 0 {
			s.cost.WithLabelValues(snap.Pools[n.Pool].Name).Add(n.Cost().USD())
		}
	}
	if total := s.inventory.observe(snap); total != nil {
		for name, t := range total {
			if t.allocatable > 0 {
				s.used.WithLabelValues(name).Set(100 * t.requested / t.allocatable)
			}
		}
	}
}

// unit converts an amount of the model to the unit of metrics: CPU from millicores to
// cores; other amounts stay.
func unit(resource string, n int64) float64 {
	if resource == model.CPU {
		return float64(n) / 1000
	}
	return float64(n)
}
