package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// callMetrics count and time calls; nil records nothing.
type callMetrics struct {
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	waited   *prometheus.HistogramVec
}

// call is one try of one call.
type call struct {
	service, action, code string
	waited, took          time.Duration
}

func newCallMetrics(into prometheus.Registerer) (*callMetrics, error) {
	if into == nil {
		return nil, nil //nolint:nilnil // no registry, no metrics; the methods take nil
	}
	m := &callMetrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokeshave_aws_calls_total", Help: "Calls to AWS by service, operation and error code; the code is empty after success.",
		}, []string{"service", "operation", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "spokeshave_aws_call_duration_seconds", Help: "Time until AWS answered a call.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 12),
		}, []string{"service", "operation"}),
		waited: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "spokeshave_aws_call_wait_seconds", Help: "Time a call waited for the client-side rate limit.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"service", "operation"}),
	}
	return m, Register(into, m.calls, m.duration, m.waited)
}

func (m *callMetrics) record(c call) {
	if m == nil {
		return
	}
	m.calls.WithLabelValues(c.service, c.action, c.code).Inc()
	m.duration.WithLabelValues(c.service, c.action).Observe(c.took.Seconds())
	m.waited.WithLabelValues(c.service, c.action).Observe(c.waited.Seconds())
}

// Register adds collectors to a registry. One that the registry has already, from an
// earlier provider of the same process, is no error.
func Register(into prometheus.Registerer, all ...prometheus.Collector) error {
	var errs []error
	for _, c := range all {
		err := into.Register(c)
		if _, twice := errors.AsType[prometheus.AlreadyRegisteredError](err); !twice {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("register metrics of the AWS provider: %w", err)
	}
	return nil
}
