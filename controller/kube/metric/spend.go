package metric

import (
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/model"
)

// spendMetrics are the metrics of what the nodes of each NodePool cost.
type spendMetrics struct{ running, inFlight *prometheus.GaugeVec }

func newSpendMetrics(reg prometheus.Registerer) *spendMetrics {
	m := &spendMetrics{
		running:  prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "spokeshave_spend_running_usd", Help: "What the nodes of a NodePool cost, in USD per hour."}, []string{"nodepool"}),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "spokeshave_spend_in_flight_usd", Help: "Worst case of the launches in flight, in USD per hour."}, []string{"nodepool"}),
	}
	reg.MustRegister(m.running, m.inFlight)
	return m
}

// observe sets the costs from a snapshot. NodePools without nodes have 0.
func (m *spendMetrics) observe(s *model.Snapshot) {
	running, inFlight := map[string]model.Price{}, map[string]model.Price{}
	for i := range s.Pools { // those without nodes cost nothing
		running[s.Pools[i].Name], inFlight[s.Pools[i].Name] = 0, 0
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch pool := poolOf(s, n); {
		case pool == "":
		case n.Reserved > 0:
			inFlight[pool] += n.Reserved
		default:
			running[pool] += n.Cost()
		}
	}
	m.running.Reset()
	m.inFlight.Reset()
	for pool, price := range running {
		m.running.WithLabelValues(pool).Set(price.USD())
	}
	for pool, price := range inFlight {
		m.inFlight.WithLabelValues(pool).Set(price.USD())
	}
}
