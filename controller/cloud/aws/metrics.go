package aws

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/cloud/provider"
)

// metrics are the provider's own; nil records nothing.
type metrics struct {
	calls     *prometheus.CounterVec
	duration  *prometheus.HistogramVec
	waited    *prometheus.HistogramVec
	received  *prometheus.CounterVec
	deleted   prometheus.Counter
	malformed prometheus.Counter
	queued    prometheus.Histogram
	age       *prometheus.GaugeVec
	shifts    *prometheus.GaugeVec

	figures
}

// call is one try of one call.
type call struct {
	service, action, code string
	waited, took          time.Duration
}

func newMetrics(into prometheus.Registerer) (*metrics, error) {
	if into == nil {
		return nil, nil //nolint:nilnil // no registry, no metrics; the methods take nil
	}
	m := &metrics{
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokeshave_aws_calls_total", Help: "Calls to AWS by service, operation and error code; the code is empty after success.",
		}, []string{"service", "operation", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "spokeshave_aws_call_duration_seconds", Help: "Time until AWS answered a call.", Buckets: prometheus.ExponentialBuckets(0.01, 2, 12),
		}, []string{"service", "operation"}),
		waited: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "spokeshave_aws_call_wait_seconds", Help: "Time a call waited for the client-side rate limit.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 8),
		}, []string{"service", "operation"}),
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
		age: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "spokeshave_aws_market_updated_timestamp_seconds", Help: "When instance types and prices were last read from AWS; 0 is never: the embedded catalogue serves.",
		}, []string{"what"}),
		shifts: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "spokeshave_aws_zonal_shift_active", Help: "1 for each zone that the cluster is shifted away from, by zone ID.",
		}, []string{"zone_id"}),
		figures: newFigures(),
	}
	var errs []error
	for _, c := range append(m.all(), m.calls, m.duration, m.waited, m.received, m.deleted, m.malformed, m.queued, m.age, m.shifts) {
		err := into.Register(c)
		if _, twice := errors.AsType[prometheus.AlreadyRegisteredError](err); !twice {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("register metrics of the AWS provider: %w", err)
	}
	return m, nil
}

func (m *metrics) call(c call) {
	if m == nil {
		return
	}
	m.calls.WithLabelValues(c.service, c.action, c.code).Inc()
	m.duration.WithLabelValues(c.service, c.action).Observe(c.took.Seconds())
	m.waited.WithLabelValues(c.service, c.action).Observe(c.waited.Seconds())
}

// updated notes that a part of the market was read; zero that it never was.
func (m *metrics) updated(what string, at time.Time) {
	switch {
	case m == nil:
	case at.IsZero():
		m.age.WithLabelValues(what).Set(0)
	default:
		m.age.WithLabelValues(what).Set(float64(at.Unix()))
	}
}

// shifted replaces what is known of zonal shifts.
func (m *metrics) shifted(on []provider.Shift) {
	if m == nil {
		return
	}
	m.shifts.Reset()
	for i := range on {
		m.shifts.WithLabelValues(on[i].ZoneID).Set(1)
	}
}

func (m *metrics) receive(kind provider.EventKind) {
	if m != nil {
		m.received.WithLabelValues(string(kind)).Inc()
	}
}

func (m *metrics) dropped() {
	if m != nil {
		m.malformed.Inc()
	}
}

// handled notes a message that was dealt with and how long it had waited.
func (m *metrics) handled(waited time.Duration) {
	if m != nil {
		m.deleted.Inc()
		m.queued.Observe(waited.Seconds())
	}
}
