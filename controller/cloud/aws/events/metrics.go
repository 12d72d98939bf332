package events

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/provider"
)

// Metrics are those of the interruption queue, most of them under Karpenter's names; nil
// records nothing.
type Metrics struct {
	received  *prometheus.CounterVec
	deleted   prometheus.Counter
	malformed prometheus.Counter
	queued    prometheus.Histogram
}

// NewMetrics makes the metrics; Collectors are to be registered.
func NewMetrics() *Metrics {
	return &Metrics{
		received: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "karpenter_interruption_received_messages_total", Help: "Messages received from the interruption queue, by kind.",
		}, []string{"message_type"}),
		deleted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "karpenter_interruption_deleted_messages_total", Help: "Messages deleted from the interruption queue.",
		}),
		malformed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "spokeshave_interruption_malformed_messages_total", Help: "Messages of the interruption queue that could not be read; they are dropped.",
		}),
		queued: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "karpenter_interruption_message_queue_duration_seconds", Help: "Time a message spent in the queue before it was dealt with.",
			Buckets: prometheus.ExponentialBuckets(0.1, 2, 12),
		}),
	}
}

// Collectors are all metrics of the queue.
func (m *Metrics) Collectors() []prometheus.Collector {
	return []prometheus.Collector{m.received, m.deleted, m.malformed, m.queued}
}

func (m *Metrics) receive(kind provider.EventKind) {
	if m != nil {
		m.received.WithLabelValues(string(kind)).Inc()
	}
}

func (m *Metrics) dropped() {
	if m != nil {
		m.malformed.Inc()
	}
}

// handled notes a message that was dealt with and how long it had waited.
func (m *Metrics) handled(waited time.Duration) {
	if m != nil {
		m.deleted.Inc()
		m.queued.Observe(waited.Seconds())
	}
}
