package metric

import (
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
)

// Round is the part of a failure outside the decision itself: the snapshot is taken, or
// the decision is applied.
const Round decide.Part = "round"

// failureMetrics count what failed or was refused, and was left out.
type failureMetrics struct {
	failures, refused *prometheus.CounterVec
	held              prometheus.Gauge
}

func newFailureMetrics(reg prometheus.Registerer) *failureMetrics {
	m := &failureMetrics{
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokeshave_decision_failures_total", Help: "Defects and errors that a round of the decision loop met, by the part that was left out.",
		}, []string{"kind", "part"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokeshave_writes_refused_total", Help: "Writes of a decision that the API server refused, by the kind of the object.",
		}, []string{"kind"}),
		held: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "spokeshave_pods_held_back", Help: "Pods left out of the last decision, because planning for them failed or their NodeClaim was refused.",
		}),
	}
	for _, kind := range []decide.FailureKind{decide.Panicked, decide.Errored, decide.Unproven} {
		for _, part := range []decide.Part{decide.Provisioning, decide.Disrupting, Round} {
			m.failures.WithLabelValues(string(kind), string(part))
		}
	}
	for _, kind := range []string{"NodeClaim", "Node"} {
		m.refused.WithLabelValues(kind)
	}
	reg.MustRegister(m.failures, m.refused, m.held)
	return m
}

// Failed counts a defect or an error that a round met.
func (m *Decisions) Failed(kind decide.FailureKind, part decide.Part) {
	m.failed.failures.WithLabelValues(string(kind), string(part)).Inc()
}

// Refused counts a write that the API server refused.
func (m *Decisions) Refused(kind string) { m.failed.refused.WithLabelValues(kind).Inc() }

// Held records how many pods were left out of the decision.
func (m *Decisions) Held(pods int) { m.failed.held.Set(float64(pods)) }
