package batch

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are what windows were like, under Karpenter's names; nil records nothing.
type Metrics struct {
	size, took *prometheus.HistogramVec
}

// NewMetrics makes the metrics; Collectors are to be registered.
func NewMetrics() *Metrics {
	return &Metrics{
		size: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "karpenter_cloudprovider_batcher_batch_size", Help: "Questions that were put together.", Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000},
		}, []string{"batcher"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "karpenter_cloudprovider_batcher_batch_time_seconds", Help: "For how long questions were gathered before they were put.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 10),
		}, []string{"batcher"}),
	}
}

// Collectors are all metrics of the batches.
func (m *Metrics) Collectors() []prometheus.Collector { return []prometheus.Collector{m.size, m.took} }

// Closed is what a window of the named call tells when it closes.
func (m *Metrics) Closed(name string) func(size int, took time.Duration) {
	if m == nil {
		return nil
	}
	return func(size int, took time.Duration) {
		m.size.WithLabelValues(name).Observe(float64(size))
		m.took.WithLabelValues(name).Observe(took.Seconds())
	}
}
