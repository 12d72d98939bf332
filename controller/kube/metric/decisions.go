package metric

import (
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/cluster"
)

// Decisions are the metrics that are computed from snapshots and decisions; the core
// packages count nothing. Only the decision loop calls the methods of Decisions, except
// Bound and Started, which are safe for concurrent use.
//
// Size: one field for each group of metrics.
type Decisions struct {
	scheduling, snapshot   prometheus.Histogram
	pending, unschedulable prometheus.Gauge
	claims                 *prometheus.CounterVec

	shared *Reconcilers

	caps       *capMetrics
	cluster    *clusterMetrics
	completed  *completedMetrics
	disruption *disruptionMetrics
	failed     *failureMetrics
	gone       goneSeries
	nodes      *nodeMetrics
	planned    *provisioned
	policies   *policyMetrics
	queue      *queueMetrics
	spend      *spendMetrics
	startup    *podStartup
}

// NewDecisions registers the metrics of decisions with reg, with which they must not be
// registered yet. Metrics that Karpenter has too have Karpenter's names. Claims that a
// decision disrupts are counted in shared, which may be nil.
func NewDecisions(reg prometheus.Registerer, shared *Reconcilers) *Decisions {
	buckets := prometheus.ExponentialBuckets(0.0005, 2, 16)
	m := &Decisions{
		shared:        shared,
		scheduling:    prometheus.NewHistogram(prometheus.HistogramOpts{Name: "karpenter_scheduler_scheduling_duration_seconds", Help: "Duration of a solve.", ConstLabels: provisioner(), Buckets: buckets}),
		snapshot:      prometheus.NewHistogram(prometheus.HistogramOpts{Name: "spokeshave_snapshot_duration_seconds", Help: "Duration of building a snapshot.", Buckets: buckets}),
		pending:       prometheus.NewGauge(prometheus.GaugeOpts{Name: "karpenter_scheduler_queue_depth", Help: "Pods that needed a place in the last decision: waiting ones, and those of nodes on their way out.", ConstLabels: provisioner()}),
		unschedulable: prometheus.NewGauge(prometheus.GaugeOpts{Name: "karpenter_scheduler_unschedulable_pods_count", Help: "Pods that the last decision found no place for.", ConstLabels: provisioner()}),
		claims:        prometheus.NewCounterVec(prometheus.CounterOpts{Name: "karpenter_nodeclaims_created_total", Help: "NodeClaims created, by why and by whether minValues were given up."}, []string{reasonLabel, nodePool, "min_values_relaxed"}),

		caps: newCapMetrics(reg), cluster: newClusterMetrics(reg), completed: newCompletedMetrics(reg), disruption: newDisruptionMetrics(reg), failed: newFailureMetrics(reg), nodes: newNodeMetrics(reg), planned: newProvisioned(reg),
		policies: newPolicyMetrics(reg), queue: newQueueMetrics(reg), spend: newSpendMetrics(reg), startup: newPodStartup(reg),
	}
	reg.MustRegister(m.scheduling, m.snapshot, m.pending, m.unschedulable, m.claims)
	m.gone.byPool = func() []seriesByLabel { return append(shared.byPool(), m.claims, m.nodes.hours, m.disruption.byPool) }
	m.gone.byPolicy = m.policies.all()
	return m
}

// Lead records when this controller began to make decisions. Only the first call
// counts.
func (m *Decisions) Lead(now time.Time) { m.queue.lead(now) }

// SnapshotFailed records that no snapshot could be taken at now.
func (m *Decisions) SnapshotFailed(now time.Time) { m.cluster.failed(now) }

// Begin records that a decision is being made, until End.
func (m *Decisions) Begin() { m.queue.begin() }

// End records that the decision has been made.
func (m *Decisions) End() { m.queue.end() }

// Observe records a snapshot, the time that it took to build, and the decision on it.
func (m *Decisions) Observe(s *model.Snapshot, d *decide.Decision, snapshot time.Duration) {
	m.snapshot.Observe(snapshot.Seconds())
	m.scheduling.Observe(d.Timing.Solve.Seconds())
	waiting := 0
	for i := range s.Pods {
		if s.Pods[i].Announced == "" && s.NeedsPlace(&s.Pods[i]) {
			waiting++
		}
	}
	m.pending.Set(float64(waiting))
	m.unschedulable.Set(float64(len(d.Plan.Unplaced)))
	m.policies.observe(d.Policies)
	m.spend.observe(s)
	m.caps.observe(d)
	m.nodes.observe(s)
	m.disruption.observe(s, d)
	m.cluster.observe(s)
	m.queue.observe(s, d)
	m.planned.observe(s, d)
	m.gone.observe(s, d)
}

// Bound counts a pod, by its UID, that was bound now. waited says that the scheduler had found it
// unschedulable before.
func (m *Decisions) Bound(uid string, created, now time.Time, waited bool) { //nolint:revive // a fact about the pod, not a mode
	took := max(0, now.Sub(created)).Seconds()
	m.startup.bound.Observe(took)
	if waited {
		m.startup.waited.Observe(took)
	}
	m.planned.hasBound(uid, now)
}

// Started counts a pod, by its UID, that has started to run now.
func (m *Decisions) Started(uid string, created, now time.Time) {
	m.planned.hasStarted(uid, now)
	m.startup.started.Observe(max(0, now.Sub(created)).Seconds())
}

// Created counts the nodes of the plan whose NodeClaims have been created, by the names of
// the claims.
func (m *Decisions) Created(s *model.Snapshot, d *decide.Decision, claims []string) {
	created := make(map[string]bool, len(claims))
	for _, name := range claims {
		created[name] = true
	}
	for i := range d.Plan.Nodes {
		if n := &d.Plan.Nodes[i]; created[model.ClaimName(s.Pools[n.Pool].Name, d.ID, i)] {
			m.created(s, n, "provisioned")
		}
	}
}

// created counts a NodeClaim that was created for the reason.
func (m *Decisions) created(s *model.Snapshot, n *model.PlannedNode, reason string) {
	m.claims.WithLabelValues(reason, s.Pools[n.Pool].Name, strconv.FormatBool(s.MinValuesRelaxed(n))).Inc()
}

// Disrupted counts those of the decision's disruptions that have been applied, and the
// NodeClaims that replace nodes.
func (m *Decisions) Disrupted(s *model.Snapshot, d *decide.Decision, done *cluster.Change) {
	gone := map[string]bool{}
	for _, c := range done.Deleted {
		gone[c] = true
	}
	m.completed.done(s, d, gone)
	m.disruption.acted(s, d, done)
	for i := range d.Disruptions {
		if n := &s.Nodes[d.Disruptions[i].Node]; d.Disruptions[i].Go && gone[n.Claim] {
			m.shared.Disrupted(subject(s, n), string(d.Disruptions[i].Method))
		}
	}
	for i := range d.Commands {
		c := &d.Commands[i]
		if c.Stage == decide.Start && slices.Contains(done.Marked, s.Nodes[c.Nodes[0]].Claim) {
			for k := range c.Replacements {
				m.created(s, &c.Replacements[k], Snake(string(c.Method)))
			}
		}
		for _, at := range c.Nodes {
			if n := &s.Nodes[at]; c.Stage == decide.Finish && gone[n.Claim] {
				m.shared.Disrupted(subject(s, n), string(c.Method))
			}
		}
	}
}

func subject(s *model.Snapshot, n *model.Node) Subject {
	return Subject{NodePool: s.Pools[n.Pool].Name, CapacityType: string(n.CapacityType)}
}
