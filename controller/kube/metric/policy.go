package metric

import (
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/policy"
)

// policyMetrics are the metrics of calls to policies.
type policyMetrics struct {
	calls, faults, denied, disagreed *prometheus.CounterVec
	duration                         *prometheus.HistogramVec
}

func newPolicyMetrics(reg prometheus.Registerer) *policyMetrics {
	byPolicy := []string{"namespace", "policy", "hook"}
	m := &policyMetrics{
		calls:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "spokeshave_policy_calls_total", Help: "Calls of a policy's hook."}, byPolicy),
		faults:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "spokeshave_policy_faults_total", Help: "Calls that gave no usable answer, by kind of fault."}, append(byPolicy, "kind")),
		disagreed: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "spokeshave_policy_shadow_disagreements_total", Help: "Answers of a Shadow policy that would have made a difference."}, byPolicy),
		denied:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "spokeshave_policy_denied_total", Help: "Offerings excluded, candidates kept and launches refused."}, byPolicy),
		duration:  prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "spokeshave_policy_duration_seconds", Help: "Time spent in a policy's hook, per decision.", Buckets: prometheus.ExponentialBuckets(0.00001, 4, 12)}, byPolicy),
	}
	reg.MustRegister(m.calls, m.faults, m.denied, m.disagreed, m.duration)
	return m
}

// all returns the metrics, each of which has a series for every policy.
func (m *policyMetrics) all() []seriesByLabel {
	return []seriesByLabel{m.calls, m.faults, m.disagreed, m.denied, m.duration}
}

// observe counts the calls of one decision.
func (m *policyMetrics) observe(uses []policy.Use) {
	for i := range uses {
		u := &uses[i]
		labels := []string{u.Namespace, u.Name, string(u.Hook)}
		m.calls.WithLabelValues(labels...).Add(float64(u.Calls))
		for kind, n := range u.Kinds {
			m.faults.WithLabelValues(u.Namespace, u.Name, string(u.Hook), string(kind)).Add(float64(n))
		}
		m.disagreed.WithLabelValues(labels...).Add(float64(u.Disagreed))
		m.denied.WithLabelValues(labels...).Add(float64(u.Denied))
		m.duration.WithLabelValues(labels...).Observe(u.Elapsed.Seconds())
	}
}
