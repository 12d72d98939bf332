package repair

import (
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/kube/metric"
	"spokeshave.dev/controller/kube/reconcile/forceful"
)

// Metrics count repairs. A nil Metrics records nothing.
type Metrics struct {
	unhealthy *prometheus.CounterVec
}

// NewMetrics registers the metrics. Their series leave with their NodePools, as those of
// shared do.
func NewMetrics(into prometheus.Registerer, shared *metric.Reconcilers) *Metrics {
	m := &Metrics{unhealthy: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "karpenter_nodeclaims_unhealthy_disrupted_total", Help: "NodeClaims of broken nodes that were replaced, by the condition that said so.",
	}, []string{"condition", "nodepool", "capacity_type", "image_id"})}
	into.MustRegister(m.unhealthy)
	shared.LeaveWithPool(m.unhealthy)
	return m
}

func (m *Metrics) disrupted(claim *karpv1.NodeClaim, condition corev1.NodeConditionType) {
	if m != nil {
		of := forceful.Subject(claim)
		m.unhealthy.WithLabelValues(metric.Snake(string(condition)), of.NodePool, of.CapacityType, claim.Status.ImageID).Inc()
	}
}
