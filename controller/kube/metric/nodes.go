package metric

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

// nodeMetrics are the metrics of the nodes of the last snapshot, by NodePool, and of
// the hours that nodes ran between one snapshot and the next.
type nodeMetrics struct {
	nodes, fallback, fallbackUSD *prometheus.GaugeVec
	pods                         *prometheus.GaugeVec
	mislabelled, assumed         prometheus.Gauge
	hours                        *prometheus.CounterVec
	last                         time.Time
}

// maxWorkloads is how many workloads have a series of their own. The pods of all
// others are counted under the name "other".
const maxWorkloads = 2000

func newNodeMetrics(reg prometheus.Registerer) *nodeMetrics {
	f := &nodeMetrics{
		nodes: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "spokeshave_nodes", Help: "Nodes by what they are, those in flight included; the instance type of a launch is known only once it is done.",
		}, []string{"nodepool", "instance_type", "capacity_type"}),
		hours: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "spokeshave_node_hours_total", Help: "Hours that nodes have run, since the controller began to lead.",
		}, []string{"nodepool", "capacity_type"}),
		fallback: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "spokeshave_spot_fallback_nodes", Help: "On-demand nodes of a NodePool that allows spot, but those with a pod that does not.",
		}, []string{"nodepool"}),
		fallbackUSD: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "spokeshave_spot_fallback_usd", Help: "What those nodes cost above the spot price of the same type and zone, in USD per hour.",
		}, []string{"nodepool"}),
		pods: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "spokeshave_workload_pods", Help: "Pods of a workload that have a node; with spokeshave_spend_workload_rate_usd what a pod costs an hour.",
		}, []string{"namespace", "workload"}),
		mislabelled: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "spokeshave_nodes_mislabelled", Help: "Nodes whose labels or size contradict what their NodeClaim and the cloud say that they are.",
		}),
		assumed: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "spokeshave_nodes_price_assumed", Help: "Nodes whose price nobody knows, and that count at an assumed one.",
		}),
	}
	reg.MustRegister(f.nodes, f.hours, f.fallback, f.fallbackUSD, f.pods, f.mislabelled, f.assumed)
	return f
}

// node kinds, as labels.
type (
	nodeKind struct{ pool, instanceType, capacityType string }
	workload struct{ namespace, name string }
)

func (f *nodeMetrics) observe(s *model.Snapshot) {
	elapsed := s.Time.Sub(f.last)
	if f.last.IsZero() || elapsed < 0 {
		elapsed = 0
	}
	f.last = s.Time
	f.reset(s)
	f.doubts(s)
	wanted := onDemandWanted(s)
	for i := range s.Nodes {
		n := &s.Nodes[i]
		pool := poolOf(s, n)
		if pool == "" {
			continue
		}
		kind := nodeKind{pool, n.InstanceType, string(n.CapacityType)}
		f.nodes.WithLabelValues(kind.pool, kind.instanceType, kind.capacityType).Inc()
		if !n.LaunchedAt.IsZero() {
			f.hours.WithLabelValues(kind.pool, kind.capacityType).Add(min(elapsed, max(0, s.Time.Sub(n.LaunchedAt))).Hours())
		}
		if n.Pool >= 0 && n.CapacityType == model.OnDemand && !wanted[int32(i)] && allowsSpot(&s.Pools[n.Pool]) {
			f.fallback.WithLabelValues(kind.pool).Inc()
			if spot := spotPrice(s, n); spot > 0 {
				f.fallbackUSD.WithLabelValues(kind.pool).Add(max(0, n.Price-spot).USD())
			}
		}
	}
	f.workloads(s)
}

// doubts counts the nodes that are not what they say, and those without a known price.
func (f *nodeMetrics) doubts(s *model.Snapshot) {
	mislabelled, assumed := 0, 0
	for i := range s.Nodes {
		if s.Nodes[i].Mislabelled {
			mislabelled++
		}
		if s.Nodes[i].PriceAssumed {
			assumed++
		}
	}
	f.mislabelled.Set(float64(mislabelled))
	f.assumed.Set(float64(assumed))
}

// poolOf returns the name of a node's NodePool, also when the pool has been deleted
// before the node; "" for unmanaged nodes.
func poolOf(s *model.Snapshot, n *model.Node) string {
	if n.Pool >= 0 {
		return s.Pools[n.Pool].Name
	}
	return n.PoolName
}

// reset clears the metrics. A pool that could fall back to on-demand has a value of 0
// and not a missing one, because dashboards compute shares of it.
func (f *nodeMetrics) reset(s *model.Snapshot) {
	f.nodes.Reset()
	f.fallback.Reset()
	f.fallbackUSD.Reset()
	for i := range s.Pools {
		if allowsSpot(&s.Pools[i]) {
			f.fallback.WithLabelValues(s.Pools[i].Name)
			f.fallbackUSD.WithLabelValues(s.Pools[i].Name)
		}
	}
}

func allowsSpot(p *model.Pool) bool { return !refusesSpot(p.Requirements) }

func refusesSpot(all []model.Requirement) bool {
	return slices.ContainsFunc(all, func(r model.Requirement) bool {
		return r.Key == karpv1.LabelCapacityType && !r.Matches(string(model.Spot), true)
	})
}

// onDemandWanted returns the nodes with a pod that cannot run on spot. Such a node did
// not fall back to on-demand.
func onDemandWanted(s *model.Snapshot) map[int32]bool {
	refuses := make([]bool, len(s.Specs))
	for i := range s.Specs {
		spec := &s.Specs[i]
		picked, picks := spec.NodeSelector[karpv1.LabelCapacityType]
		refuses[i] = picks && picked != string(model.Spot) ||
			len(spec.Affinity) > 0 && !slices.ContainsFunc(spec.Affinity, func(t model.Term) bool { return !refusesSpot(t) })
	}
	out := map[int32]bool{}
	for i := range s.Pods {
		if p := &s.Pods[i]; p.Node >= 0 && !p.Daemon && refuses[p.Spec] {
			out[p.Node] = true
		}
	}
	return out
}

// spotPrice returns the spot price of the node's type in its zone, 0 when there is
// none.
func spotPrice(s *model.Snapshot, n *model.Node) model.Price {
	at := s.Pools[n.Pool].Catalog
	if at < 0 {
		return 0
	}
	types := s.Catalogs[at].Types
	i := slices.IndexFunc(types, func(t model.InstanceType) bool { return t.Name == n.InstanceType })
	if i < 0 {
		return 0
	}
	for _, o := range types[i].Offerings {
		if o.Zone == n.Zone && o.CapacityType == model.Spot {
			return o.Price
		}
	}
	return 0
}

func (f *nodeMetrics) workloads(s *model.Snapshot) {
	counts := map[workload]int{}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Node < 0 || p.Daemon || p.Workload == "" {
			continue
		}
		key := workload{p.Namespace, p.Workload}
		if _, known := counts[key]; !known && len(counts) >= maxWorkloads {
			key.name = "other"
		}
		counts[key]++
	}
	f.pods.Reset()
	for key, n := range counts {
		f.pods.WithLabelValues(key.namespace, key.name).Set(float64(n))
	}
}
