package breaker

import "github.com/prometheus/client_golang/prometheus"

// Metrics say what is stopped. A nil *Metrics records nothing.
type Metrics struct{ stopped *prometheus.GaugeVec }

// NewMetrics registers the metrics.
func NewMetrics(into prometheus.Registerer) *Metrics {
	m := &Metrics{stopped: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "spokeshave_disruption_stopped", Help: "Mass deletions that are stopped until somebody allows them: garbage collection, expiration, and drift by NodePool.",
	}, []string{"kind"})}
	for _, kind := range kinds() {
		m.stopped.WithLabelValues(string(kind))
	}
	into.MustRegister(m.stopped)
	return m
}

func (m *Metrics) set(kind Kind, n int) {
	if m != nil {
		m.stopped.WithLabelValues(string(kind)).Set(float64(n))
	}
}
