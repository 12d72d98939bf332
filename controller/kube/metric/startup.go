package metric

import "github.com/prometheus/client_golang/prometheus"

// podStartup are the metrics of how long pods wait after their creation.
type podStartup struct{ bound, waited, started prometheus.Histogram }

func newPodStartup(reg prometheus.Registerer) *podStartup {
	duration := func(what, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "karpenter_pods_" + what + "_duration_seconds", Help: help, Buckets: prometheus.ExponentialBuckets(0.25, 2, 16),
		})
	}
	m := &podStartup{
		bound:   duration("bound", "Time from a pod's creation until it was bound to a node."),
		started: duration("startup", "Time from a pod's creation until it ran."),
		waited: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "spokeshave_pod_pending_seconds", Help: "Time from a pod's creation until it was bound, of pods that the scheduler had found no place for.",
			Buckets: []float64{1, 2, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800, 3600},
		}),
	}
	reg.MustRegister(m.bound, m.waited, m.started)
	return m
}
