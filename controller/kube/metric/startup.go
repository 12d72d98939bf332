package metric

import "github.com/prometheus/client_golang/prometheus"

// podStartup are the metrics of how long pods wait after their creation.
type podStartup struct {
	bound, waited prometheus.Histogram
	started       prometheus.Summary
}

func newPodStartup(reg prometheus.Registerer) *podStartup {
	duration := func(what, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "karpenter_pods_" + what + "_duration_seconds", Help: help, Buckets: prometheus.ExponentialBuckets(0.25, 2, 16),
		})
	}
	m := &podStartup{
		bound: duration("bound", "Time from a pod's creation until it was bound to a node."),
		started: prometheus.NewSummary(prometheus.SummaryOpts{
			Name: "karpenter_pods_startup_duration_seconds", Help: "Time from a pod's creation until it ran, of the last ten minutes.", Objectives: quantiles(),
		}),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "spokeshave_pod_pending_seconds", Help: "Time from a pod's creation until it was bound, of pods that the scheduler had found no place for.",
			Buckets: []float64{1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800, 3600},
		}),
	}
	reg.MustRegister(m.bound, m.waited, m.started)
	return m
}

// quantiles are those of Karpenter's summaries, with the error of each.
func quantiles() map[float64]float64 {
	return map[float64]float64{0: 0.01, 0.5: 0.01, 0.9: 0.01, 0.99: 0.001, 1: 0.001}
}
