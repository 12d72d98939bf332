package decision

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/controller/kube/actuate"
	"spokeshave.dev/controller/kube/reconcile/metric"
)

// Metrics derive from decisions; nothing inside the core counts anything.
type Metrics struct {
	scheduling, snapshot   prometheus.Histogram
	pending, unschedulable prometheus.Gauge
	claims                 *prometheus.CounterVec
	calls, faults, denied  *prometheus.CounterVec
	disagreed              *prometheus.CounterVec
	duration               *prometheus.HistogramVec
	running, inFlight      *prometheus.GaugeVec
	waited                 prometheus.Histogram

	shared *metric.Set

	caps  *caps
	fleet *fleet
	churn *churn

	voluntary *voluntary
	state     *state
	queue     *queue
	bound, up prometheus.Histogram
}

// NewMetrics registers the decision's metrics. Names of Karpenter are kept
// where they mean the same.
func NewMetrics(reg prometheus.Registerer, shared *metric.Set) *Metrics {
	byPolicy := []string{"namespace", "policy", "hook"}
	m := &Metrics{
		shared:        shared,
		scheduling:    prometheus.NewHistogram(prometheus.HistogramOpts{Name: "karpenter_scheduler_scheduling_duration_seconds", Help: "Duration of a solve.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16)}),
		snapshot:      prometheus.NewHistogram(prometheus.HistogramOpts{Name: "spokeshave_snapshot_duration_seconds", Help: "Duration of building a snapshot.", Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16)}),
		pending:       prometheus.NewGauge(prometheus.GaugeOpts{Name: "karpenter_scheduler_queue_depth", Help: "Pods that needed a place in the last decision: waiting ones, and those of nodes on their way out."}),
		unschedulable: prometheus.NewGauge(prometheus.GaugeOpts{Name: "karpenter_scheduler_unschedulable_pods_count", Help: "Pods that the last decision found no place for."}),
		claims:        prometheus.NewCounterVec(prometheus.CounterOpts{Name: "karpenter_nodeclaims_created_total", Help: "NodeClaims created."}, []string{"nodepool"}),
		calls:         prometheus.NewCounterVec(prometheus.CounterOpts{Name: "spokeshave_policy_calls_total", Help: "Calls of a policy's hook."}, byPolicy),
		faults:        prometheus.NewCounterVec(prometheus.CounterOpts{Name: "spokeshave_policy_faults_total", Help: "Calls that gave no usable answer, by kind of fault."}, append(byPolicy, "kind")),
		disagreed:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "spokeshave_policy_shadow_disagreements_total", Help: "Answers of a Shadow policy that would have made a difference."}, byPolicy),
		denied:        prometheus.NewCounterVec(prometheus.CounterOpts{Name: "spokeshave_policy_denied_total", Help: "Offerings excluded, candidates kept and launches refused."}, byPolicy),
		duration:      prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "spokeshave_policy_duration_seconds", Help: "Time spent in a policy's hook, per decision.", Buckets: prometheus.ExponentialBuckets(0.00001, 4, 12)}, byPolicy),
		running:       prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "spokeshave_spend_running_usd", Help: "What the nodes of a NodePool cost, in USD per hour."}, []string{"nodepool"}),
		inFlight:      prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "spokeshave_spend_in_flight_usd", Help: "Worst case of the launches in flight, in USD per hour."}, []string{"nodepool"}),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "spokeshave_pod_pending_seconds", Help: "Time from a pod's creation until it was bound, of pods that the scheduler had found no place for.",
			Buckets: []float64{1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800, 3600},
		}),
		caps: newCaps(reg), fleet: newFleet(reg), churn: newChurn(reg), voluntary: newVoluntary(reg), state: newState(reg), queue: newQueue(reg),
		bound: podDuration("bound", "Time from a pod's creation until it was bound to a node."),
		up:    podDuration("startup", "Time from a pod's creation until it ran."),
	}
	reg.MustRegister(m.scheduling, m.snapshot, m.pending, m.unschedulable, m.claims,
		m.calls, m.faults, m.denied, m.disagreed, m.duration, m.running, m.inFlight, m.waited, m.bound, m.up)
	return m
}

func podDuration(what, help string) prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "karpenter_pods_" + what + "_duration_seconds", Help: help, Buckets: prometheus.ExponentialBuckets(0.25, 2, 16),
	})
}

func (m *Metrics) observe(s *model.Snapshot, d *decide.Decision, snapshot time.Duration) {
	m.snapshot.Observe(snapshot.Seconds())
	m.scheduling.Observe(d.Timing.Solve.Seconds())
	waiting := 0
	for i := range s.Pods {
		if s.NeedsPlace(&s.Pods[i]) {
			waiting++
		}
	}
	m.pending.Set(float64(waiting))
	m.unschedulable.Set(float64(len(d.Plan.Unplaced)))
	for i := range d.Policies {
		u := &d.Policies[i]
		m.policy(u)
	}
	m.spend(s)
	m.caps.observe(d)
	m.fleet.observe(s)
	m.voluntary.observe(s, d)
	m.state.observe(s)
	m.queue.observe(s, d)
}

// Bound counts a pod that was bound now; waited says that the scheduler had
// found no place for it before.
func (m *Metrics) Bound(created, now time.Time, waited bool) { //nolint:revive // a fact about the pod, not a mode
	took := max(0, now.Sub(created)).Seconds()
	m.bound.Observe(took)
	if waited {
		m.waited.Observe(took)
	}
}

// Up counts a pod that runs from now on.
func (m *Metrics) Up(created, now time.Time) { m.up.Observe(max(0, now.Sub(created)).Seconds()) }

func (m *Metrics) policy(u *policy.Use) {
	labels := []string{u.Namespace, u.Name, string(u.Hook)}
	m.calls.WithLabelValues(labels...).Add(float64(u.Calls))
	for kind, n := range u.Kinds {
		m.faults.WithLabelValues(u.Namespace, u.Name, string(u.Hook), string(kind)).Add(float64(n))
	}
	m.disagreed.WithLabelValues(labels...).Add(float64(u.Disagreed))
	m.denied.WithLabelValues(labels...).Add(float64(u.Denied))
	m.duration.WithLabelValues(labels...).Observe(u.Elapsed.Seconds())
}

func (m *Metrics) spend(s *model.Snapshot) {
	running, inFlight := map[string]model.Price{}, map[string]model.Price{}
	for i := range s.Pools { // those without nodes cost nothing
		running[s.Pools[i].Name], inFlight[s.Pools[i].Name] = 0, 0
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch pool := poolOf(s, n); {
		case pool == "":
		case n.Reserved > 0:
			inFlight[pool] += n.Reserved
		default:
			running[pool] += n.Cost()
		}
	}
	m.running.Reset()
	m.inFlight.Reset()
	for pool, price := range running {
		m.running.WithLabelValues(pool).Set(price.USD())
	}
	for pool, price := range inFlight {
		m.inFlight.WithLabelValues(pool).Set(price.USD())
	}
}

// created counts the first n nodes of the plan.
func (m *Metrics) created(s *model.Snapshot, d *decide.Decision, n int) {
	for i := range d.Plan.Nodes[:n] {
		m.claims.WithLabelValues(s.Pools[d.Plan.Nodes[i].Pool].Name).Inc()
	}
}

func (m *Metrics) disrupted(s *model.Snapshot, d *decide.Decision, done *actuate.Done) {
	gone := map[string]bool{}
	for _, c := range done.Deleted {
		gone[c] = true
	}
	m.churn.done(s, d, gone)
	m.voluntary.acted(s, d, done)
	for i := range d.Disruptions {
		if n := &s.Nodes[d.Disruptions[i].Node]; d.Disruptions[i].Go && gone[n.Claim] {
			m.shared.Disrupted(subject(s, n), string(d.Disruptions[i].Method))
		}
	}
	for i := range d.Commands {
		c := &d.Commands[i]
		for _, at := range c.Nodes {
			if n := &s.Nodes[at]; c.Stage == decide.Finish && gone[n.Claim] {
				m.shared.Disrupted(subject(s, n), string(c.Method))
			}
		}
	}
}

func subject(s *model.Snapshot, n *model.Node) metric.Subject {
	return metric.Subject{NodePool: s.Pools[n.Pool].Name, CapacityType: string(n.CapacityType)}
}
