package metric

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	karpv1 "spokeshave.dev/api/karpenter/v1"
)

// PodCounts is a Prometheus collector that counts pods when metrics are read. It has
// sums and maxima over all pods, where Karpenter has one series for each pod: those
// would take more memory than everything else the controller keeps about a pod.
type PodCounts struct {
	// Pods and Node read the watch cache; the objects they return are not changed.
	// Node returns nil for a node that does not exist.
	Pods func() []*corev1.Pod
	Node func(name string) *corev1.Node
	Now  func() time.Time
	// Leading says whether this replica leads. Only the leader reports, because sums
	// over the series of several replicas would count every pod several times.
	Leading func() bool
}

// podCountDescs are the descriptions of what PodCounts counts.
type podCountDescs struct{ state, unbound, unstarted *prometheus.Desc }

func newPodCountDescs() podCountDescs {
	return podCountDescs{
		state: prometheus.NewDesc("karpenter_pods_state", "Pods by phase and by what their node is; sums, not a series for each pod.",
			[]string{"arch", "capacity_type", "instance_type", "nodepool", "phase", "zone"}, nil),
		unbound:   prometheus.NewDesc("karpenter_pods_unbound_time_seconds", "For how long the pod that has waited longest for a node has done so; 0 when none does.", nil, nil),
		unstarted: prometheus.NewDesc("karpenter_pods_unstarted_time_seconds", "For how long the oldest pod that does not run yet has existed; 0 when all do.", nil, nil),
	}
}

// Describe implements prometheus.Collector.
func (c *PodCounts) Describe(out chan<- *prometheus.Desc) {
	d := newPodCountDescs()
	out <- d.state
	out <- d.unbound
	out <- d.unstarted
}

// Collect implements prometheus.Collector.
func (c *PodCounts) Collect(out chan<- prometheus.Metric) {
	if !c.Leading() {
		return
	}
	type kind struct {
		phase string
		on    nodeLabels
	}
	nodes, counts := map[string]nodeLabels{}, map[kind]int{}
	var unbound, unstarted time.Duration
	now := c.Now()
	for _, pod := range c.Pods() {
		name := pod.Spec.NodeName
		on, known := nodes[name]
		if !known && name != "" {
			if node := c.Node(name); node != nil {
				on = nodeLabelsOf(node.Labels)
			}
			nodes[name] = on
		}
		counts[kind{string(pod.Status.Phase), on}]++
		if pod.Status.Phase != corev1.PodPending {
			continue
		}
		age := now.Sub(pod.CreationTimestamp.Time)
		unstarted = max(unstarted, age)
		if name == "" {
			unbound = max(unbound, age)
		}
	}
	d := newPodCountDescs()
	for k, n := range counts {
		out <- gaugeSample{d.state, labelPairs("arch", k.on.arch, "capacity_type", k.on.capacityType, "instance_type", k.on.instanceType, "nodepool", k.on.pool, "phase", k.phase, "zone", k.on.zone), float64(n)}
	}
	out <- gaugeSample{d.unbound, nil, unbound.Seconds()}
	out <- gaugeSample{d.unstarted, nil, unstarted.Seconds()}
}

// nodeLabels is what pods are counted by.
type nodeLabels struct{ arch, capacityType, instanceType, pool, zone string }

func nodeLabelsOf(labels map[string]string) nodeLabels {
	return nodeLabels{
		arch: labels[corev1.LabelArchStable], capacityType: labels[karpv1.LabelCapacityType], instanceType: labels[corev1.LabelInstanceTypeStable],
		pool: labels[karpv1.LabelNodePool], zone: labels[corev1.LabelTopologyZone],
	}
}
