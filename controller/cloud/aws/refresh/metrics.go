package refresh

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics say how old each source is. Nil records nothing.
type Metrics struct {
	read  *prometheus.GaugeVec
	state *prometheus.GaugeVec
}

// NewMetrics makes the metrics of sources.
func NewMetrics() *Metrics {
	return &Metrics{
		read: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "spokeshave_aws_market_updated_timestamp_seconds", Help: "When instance types, prices, reservations and zonal shifts were last read from AWS; 0 is never: the embedded catalogue serves.",
		}, []string{"what"}),
		state: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "spokeshave_aws_market_stale", Help: "1 for what could not be read from AWS for twice as long as it is taken for current; the last answer serves.",
		}, []string{"what"}),
	}
}

// Collectors are the metrics, for a registry.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.read, m.state}
}

func (m *Metrics) updated(what string, at time.Time) {
	if m != nil {
		m.read.WithLabelValues(what).Set(float64(at.Unix()))
	}
}

// told sets whether a source is stale, from what its age says: nil for a fresh one.
func (m *Metrics) told(what string, stale *Stale) {
	if m == nil {
		return
	}
	value := 0.0
	if stale != nil {
		value = 1
	}
	m.state.WithLabelValues(what).Set(value)
}
