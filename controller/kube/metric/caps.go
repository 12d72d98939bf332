package metric

import (
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
)

// capMetrics are the metrics of spending caps.
type capMetrics struct {
	limit, headroom, burn, secondsToCap *prometheus.GaugeVec
}

func newCapMetrics(reg prometheus.Registerer) *capMetrics {
	of := []string{"scope", "policy", "period", "kind"}
	c := &capMetrics{
		limit:        prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "spokeshave_cap_usd", Help: "A cap in force, hard or soft: USD per hour, or per month."}, of),
		headroom:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "spokeshave_headroom_usd", Help: "Headroom under a cap, in USD per hour: what may be added so that it holds."}, of),
		burn:         prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "spokeshave_cap_burn_usd", Help: "What runs and is in flight in the scope of a cap, in USD per hour."}, of),
		secondsToCap: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "spokeshave_time_to_cap_seconds", Help: "When a month's cap is used up at the present rate; absent when nothing is spent."}, of),
	}
	reg.MustRegister(c.limit, c.headroom, c.burn, c.secondsToCap)
	return c
}

// observe sets the metrics from the caps of a decision. A decision that did not call
// the ceiling policies changes nothing.
func (c *capMetrics) observe(d *decide.Decision) {
	if d.Caps == nil {
		return
	}
	for _, vec := range []*prometheus.GaugeVec{c.limit, c.headroom, c.burn, c.secondsToCap} {
		vec.Reset()
	}
	for i := range d.Headroom {
		h := &d.Headroom[i]
		kind := "hard"
		if h.Soft {
			kind = "soft"
		}
		labels := []string{h.Scope, h.Policy, string(h.Period), kind}
		c.limit.WithLabelValues(labels...).Set(h.Limit)
		c.headroom.WithLabelValues(labels...).Set(h.Left.USD())
		c.burn.WithLabelValues(labels...).Set(h.Burn.USD())
		if h.Period == decide.PerMonth && h.SecondsToCap >= 0 {
			c.secondsToCap.WithLabelValues(labels...).Set(float64(h.SecondsToCap))
		}
	}
}
