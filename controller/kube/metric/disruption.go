package metric

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/disrupt"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/cluster"
)

// disruptionMetrics are the metrics of disruptions that were decided, under Karpenter's
// names.
type disruptionMetrics struct {
	decisions, byPool, failures *prometheus.CounterVec
	invalid, timeouts           *prometheus.CounterVec
	eligible                    *prometheus.GaugeVec
	allowed, consuming          *prometheus.GaugeVec
	evaluation                  *prometheus.HistogramVec
}

func newDisruptionMetrics(reg prometheus.Registerer) *disruptionMetrics {
	const prefix, typ = "karpenter_voluntary_disruption_", "consolidation_type"
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	}
	v := &disruptionMetrics{
		decisions: counter(prefix+"decisions_total", "Disruptions that were begun; empty nodes count when they are deleted.", "decision", "reason", typ),
		byPool:    counter(prefix+"decisions_by_nodepool_total", "Disruptions that were begun, by the NodePools of their nodes.", "nodepool", "decision", "reason", typ),
		failures:  counter(prefix+"queue_failures_total", "Disruptions taken back because a replacement or a taint failed.", "decision", "reason", typ),
		invalid:   counter(prefix+"failed_validations_total", "Disruptions taken back because pods, budgets, policies or prices had changed.", typ),
		timeouts:  counter(prefix+"consolidation_timeouts_total", "Always 0: the search is bounded by its effort, not by time.", typ),
		eligible:  gauge(prefix+"eligible_nodes", "Nodes that could be disrupted as far as pods, annotations and settings go.", "reason"),
		allowed:   gauge("karpenter_nodepools_allowed_disruptions", "Nodes of a NodePool that its budgets would let go now.", "nodepool", "reason"),
		consuming: gauge("karpenter_nodepools_nodes_consuming_budgets", "Nodes of a NodePool that use its budgets up: they are going, or do not answer. The same for every reason.", "nodepool", "reason"),
		evaluation: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: prefix + "decision_evaluation_duration_seconds", Help: "Time spent on which nodes may go; one pass serves all reasons, so that the labels are empty.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
		}, []string{"reason", typ}),
	}
	for _, t := range []string{"single", "multi"} {
		v.timeouts.WithLabelValues(t)
	}
	reg.MustRegister(v.decisions, v.byPool, v.failures, v.invalid, v.timeouts, v.eligible, v.allowed, v.consuming, v.evaluation)
	return v
}

// disruptionMethods are the reasons of voluntary disruption.
func disruptionMethods() []disrupt.Method {
	return []disrupt.Method{disrupt.Empty, disrupt.Underutilized, disrupt.Drifted}
}

// observe records a snapshot and its decision.
func (v *disruptionMetrics) observe(s *model.Snapshot, d *decide.Decision) {
	v.evaluation.WithLabelValues("", "").Observe(d.Timing.Disrupt.Seconds())
	v.allowed.Reset()
	v.consuming.Reset()
	consuming := map[int32]int{}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Pool >= 0 && consumesBudget(n) {
			consuming[n.Pool]++
		}
	}
	for _, m := range disruptionMethods() {
		v.eligible.WithLabelValues(Snake(string(m))).Set(float64(d.Eligible[m]))
		for i := range s.Pools {
			// Of all metrics, Karpenter spells the reason as NodePools do only in these two.
			pool, reason := s.Pools[i].Name, string(m)
			v.allowed.WithLabelValues(pool, reason).Set(float64(max(0, disrupt.Allowed(&s.Pools[i].Disruption, m)-commandedNodes(s, int32(i)))))
			v.consuming.WithLabelValues(pool, reason).Set(float64(consuming[int32(i)]))
		}
	}
}

// consumesBudget reports whether the node counts against its pool's disruption budgets.
func consumesBudget(n *model.Node) bool {
	return n.Command != nil || n.State == model.Deleting || n.State == model.Initialized && n.NotReady
}

// commandedNodes returns the number of a pool's nodes that belong to commands under
// way.
func commandedNodes(s *model.Snapshot, pool int32) int {
	n := 0
	for i := range s.Nodes {
		if x := &s.Nodes[i]; x.Pool == pool && x.Command != nil && x.State != model.Deleting {
			n++
		}
	}
	return n
}

// acted counts those of the decision's disruptions that were applied.
func (v *disruptionMetrics) acted(s *model.Snapshot, d *decide.Decision, done *cluster.Change) {
	for i := range d.Disruptions {
		each := &d.Disruptions[i]
		if n := &s.Nodes[each.Node]; each.Go && slices.Contains(done.Deleted, n.Claim) {
			v.begun(s, []int32{each.Node}, disruptionLabels{"delete", Snake(string(each.Method)), consolidationType(each.Method, 1)})
		}
	}
	for i := range d.Commands {
		c := &d.Commands[i]
		first := s.Nodes[c.Nodes[0]].Claim
		switch k := disruptionLabelsOf(s, c); {
		case c.Stage == decide.Start && slices.Contains(done.Marked, first):
			v.begun(s, c.Nodes, k)
		case c.Stage != decide.Undo || !slices.Contains(done.Unmarked, first):
		case c.Invalid:
			v.invalid.WithLabelValues(k.typ).Inc()
		default:
			v.failures.WithLabelValues(k.decision, k.reason, k.typ).Inc()
		}
	}
}

// disruptionLabels are the labels of a disruption in metrics.
type disruptionLabels struct{ decision, reason, typ string }

func disruptionLabelsOf(s *model.Snapshot, c *decide.Command) disruptionLabels {
	out := disruptionLabels{decision: "delete", reason: Snake(string(c.Method)), typ: consolidationType(c.Method, len(c.Nodes))}
	mark := s.Nodes[c.Nodes[0]].Command
	if len(c.Replacements) > 0 || mark != nil && len(mark.Replacements) > 0 {
		out.decision = "replace"
	}
	return out
}

// consolidationType returns Karpenter's name for the kind of consolidation that disrupts so
// many nodes together, "" for what is none.
func consolidationType(m disrupt.Method, nodes int) string {
	switch {
	case m == disrupt.Empty:
		return "empty"
	case m != disrupt.Underutilized:
		return ""
	case nodes > 1:
		return "multi"
	}
	return "single"
}

func (v *disruptionMetrics) begun(s *model.Snapshot, nodes []int32, k disruptionLabels) {
	v.decisions.WithLabelValues(k.decision, k.reason, k.typ).Inc()
	var pools []int32
	for _, i := range nodes {
		if pool := s.Nodes[i].Pool; !slices.Contains(pools, pool) {
			pools = append(pools, pool)
			v.byPool.WithLabelValues(s.Pools[pool].Name, k.decision, k.reason, k.typ).Inc()
		}
	}
}
