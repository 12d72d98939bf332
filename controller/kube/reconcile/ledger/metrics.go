package ledger

import (
	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/spend"
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("spokeshave_spend_"+name, help, labels, nil)
}

// Collector exports the ledger's current figures as metrics.
type Collector struct {
	tracker                                   *Tracker
	month, forecast, rate, workload, overhead *prometheus.Desc
	doubt, lost, waiting                      *prometheus.Desc
}

// NewCollector returns a collector for the tracker's ledger.
func NewCollector(k *Tracker) *Collector {
	return &Collector{
		tracker:  k,
		month:    desc("month_to_date_usd", "What a scope has cost since the month began (UTC), in USD.", "scope"),
		forecast: desc("month_forecast_usd", "What the cluster will have cost by the end of the month if nothing changes, in USD."),
		rate:     desc("rate_usd", "What runs, in USD per hour, by what was rented.", "nodepool", "family", "capacity_type"),
		workload: desc("workload_rate_usd", "A workload's share of the nodes it runs on, in USD per hour.", "namespace", "workload"),
		overhead: desc("overhead_rate_usd", "What no workload pays for, in USD per hour: idle capacity and the pods of DaemonSets.", "kind"),
		doubt:    desc("in_doubt", "1 while it is not certain what the month has cost, so that monthly caps let nothing through."),
		lost:     desc("ledger_lost_timestamp_seconds", "When the ledger was last found to be lost, in doubt or not, in seconds since 1970; 0 for never since this process started."),
		waiting:  desc("days_waiting", "Days of spend that have ended and are not in the history yet: above 0 for more than minutes while it cannot be written."),
	}
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.month, c.forecast, c.rate, c.workload, c.overhead, c.doubt, c.lost, c.waiting} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(out chan<- prometheus.Metric) {
	l := c.tracker.ledger.Load()
	if l == nil {
		return
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for _, s := range l.Scopes() {
		gauge(c.month, float64(s.Micro)/1e6, s.Scope)
	}
	doubt := 0.0
	if c.tracker.doubtful.Load() {
		doubt = 1
	}
	gauge(c.doubt, doubt)
	gauge(c.lost, float64(c.tracker.lostAt.Load()))
	gauge(c.waiting, float64(len(l.Days.Ended)))
	forecast := l.Forecast()
	gauge(c.forecast, forecast.USD())
	c.rented(l, gauge)
	for i := range l.Holders {
		switch h := &l.Holders[i]; {
		case h.Rate == 0:
		case h.Kind == spend.Workload:
			gauge(c.workload, h.Rate.USD(), h.Namespace, h.Workload)
		default:
			gauge(c.overhead, h.Rate.USD(), h.Kind)
		}
	}
}

// rented adds up entries that differ only in the labels that the pool had.
func (c *Collector) rented(l *spend.Ledger, gauge func(*prometheus.Desc, float64, ...string)) {
	sums, order := map[spend.Rented]float64{}, []spend.Rented{}
	for i := range l.Pools {
		p := l.Pools[i]
		p.Labels = ""
		if _, known := sums[p.Rented]; !known {
			order = append(order, p.Rented)
		}
		sums[p.Rented] += p.Rate.USD()
	}
	for _, r := range order {
		if sums[r] == 0 { // it has cost something this month, and is gone
			continue
		}
		gauge(c.rate, sums[r], r.Pool, r.Family, string(r.CapacityType))
	}
}
