package policies

import (
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/policy/load"
)

// Collector exports the loader's status of each policy as metrics.
type Collector struct {
	loader             *load.Loader
	state, fuel, kills *prometheus.Desc
}

// NewCollector makes a collector of a loader's policies.
func NewCollector(l *load.Loader) *Collector {
	return &Collector{
		loader: l,
		state: prometheus.NewDesc("spokeshave_policy_state", "1 for the state that a policy is in: Active, Shadow, Rejected, Tripped or Suspended.",
			[]string{"namespace", "policy", "state"}, nil),
		fuel: prometheus.NewDesc("spokeshave_policy_fuel", "The most fuel that a call of a policy has used, since it was compiled.",
			[]string{"namespace", "policy"}, nil),
		kills: prometheus.NewDesc("spokeshave_policy_kills", "How often a policy has ended the process that it runs in, since it was compiled.",
			[]string{"namespace", "policy"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	out <- c.state
	out <- c.fuel
	out <- c.kills
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	for _, s := range c.loader.Status() {
		out <- prometheus.MustNewConstMetric(c.state, prometheus.GaugeValue, 1, s.Namespace, s.Name, string(s.State))
		if s.FuelHigh > 0 {
			out <- prometheus.MustNewConstMetric(c.fuel, prometheus.GaugeValue, float64(s.FuelHigh), s.Namespace, s.Name)
		}
		if s.Kills > 0 {
			out <- prometheus.MustNewConstMetric(c.kills, prometheus.GaugeValue, float64(s.Kills), s.Namespace, s.Name)
		}
	}
}
