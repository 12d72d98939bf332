package metric

import (
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
)

// completedMetrics are the metrics of disruptions that have been applied.
type completedMetrics struct {
	events  *prometheus.CounterVec
	evicted *prometheus.HistogramVec
}

func newCompletedMetrics(reg prometheus.Registerer) *completedMetrics {
	c := &completedMetrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokeshave_disruptions_total", Help: "Disruptions that were carried out: one may remove several nodes.",
		}, []string{"reason", "action"}),
		evicted: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "spokeshave_disruption_evicted_pods", Help: "Pods that had to move in one disruption, those of DaemonSets not counted.",
			Buckets: []float64{0, 1, 2, 5, 10, 20, 50, 100, 200, 500},
		}, []string{"reason"}),
	}
	reg.MustRegister(c.events, c.evicted)
	return c
}

// done counts the disruptions whose claims were deleted.
func (c *completedMetrics) done(s *model.Snapshot, d *decide.Decision, gone map[string]bool) {
	for i := range d.Disruptions {
		if each := &d.Disruptions[i]; each.Go && gone[s.Nodes[each.Node].Claim] {
			c.add(string(each.Method), "delete", 0)
		}
	}
	for i := range d.Commands {
		cmd := &d.Commands[i]
		if cmd.Stage != decide.Finish || !slices.ContainsFunc(cmd.Nodes, func(n int32) bool { return gone[s.Nodes[n].Claim] }) {
			continue
		}
		action := "delete"
		if mark := s.Nodes[cmd.Nodes[0]].Command; mark != nil && len(mark.Replacements) > 0 {
			action = "replace"
		}
		pods := 0
		for p := range s.Pods {
			if !s.Pods[p].Daemon && slices.Contains(cmd.Nodes, s.Pods[p].Node) {
				pods++
			}
		}
		c.add(string(cmd.Method), action, pods)
	}
}

func (c *completedMetrics) add(reason, action string, pods int) {
	c.events.WithLabelValues(reason, action).Inc()
	c.evicted.WithLabelValues(reason).Observe(float64(pods))
}
