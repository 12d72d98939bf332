package decision

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// Census counts pods when metrics are read. Karpenter has a series for each of
// them, which takes more memory than all else that is known of a pod here: these
// are their sums and their maxima.
type Census struct {
	// Pods and Node read the watch cache; what they give is not changed.
	Pods func() []*corev1.Pod
	Node func(name string) *corev1.Node
	Now  func() time.Time
	// Leading says whether this replica leads: another one that counted, too, would
	// double every sum.
	Leading func() bool
}

// census are the descriptions of what a Census counts.
type census struct{ state, unbound, unstarted *prometheus.Desc }

func censusDescs() census {
	return census{
		state: prometheus.NewDesc("karpenter_pods_state", "Pods by phase and by their node's NodePool; a sum over the series, not one for each pod.",
			[]string{"phase", "nodepool"}, nil),
		unbound:   prometheus.NewDesc("karpenter_pods_unbound_time_seconds", "For how long the pod that has waited longest for a node has done so; 0 when none does.", nil, nil),
		unstarted: prometheus.NewDesc("karpenter_pods_unstarted_time_seconds", "For how long the oldest pod that does not run yet has existed; 0 when all do.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *Census) Describe(out chan<- *prometheus.Desc) {
	d := censusDescs()
	out <- d.state
	out <- d.unbound
	out <- d.unstarted
}

// Collect implements prometheus.Collector.
func (c *Census) Collect(out chan<- prometheus.Metric) {
	if !c.Leading() {
		return
	}
	type kind struct{ phase, pool string }
	pools, counts := map[string]string{}, map[kind]int{}
	var unbound, unstarted time.Duration
	now := c.Now()
	for _, pod := range c.Pods() {
		name := pod.Spec.NodeName
		pool, known := pools[name]
		if !known && name != "" {
			if node := c.Node(name); node != nil {
				pool = node.Labels[karpv1.LabelNodePool]
			}
			pools[name] = pool
		}
		counts[kind{string(pod.Status.Phase), pool}]++
		if pod.Status.Phase != corev1.PodPending {
			continue
		}
		age := now.Sub(pod.CreationTimestamp.Time)
		unstarted = max(unstarted, age)
		if name == "" {
			unbound = max(unbound, age)
		}
	}
	d := censusDescs()
	for k, n := range counts {
		out <- sample{d.state, pairs("nodepool", k.pool, "phase", k.phase), float64(n)}
	}
	out <- sample{d.unbound, nil, unbound.Seconds()}
	out <- sample{d.unstarted, nil, unstarted.Seconds()}
}
