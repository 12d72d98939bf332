package interruption

import (
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/provider"
)

// Metrics count the troubled instances that were found by polling. Events that came
// through a queue are counted where the queue is read. A nil Metrics records nothing.
type Metrics struct {
	checks *prometheus.CounterVec
}

// NewMetrics registers the metrics.
func NewMetrics(into prometheus.Registerer) *Metrics {
	m := &Metrics{checks: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "karpenter_interruption_instance_status_unhealthy_total", Help: "Nodes whose instances failed a status check, or have a scheduled event.",
	}, []string{"category"})}
	into.MustRegister(m.checks)
	return m
}

func (m *Metrics) unhealthy(kind provider.EventKind) {
	if m != nil && (kind.Forceful() || kind == provider.EventStatus) {
		m.checks.WithLabelValues(string(kind)).Inc()
	}
}
