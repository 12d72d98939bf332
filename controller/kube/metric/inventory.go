package metric

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"

	"spokeshave.dev/controller/core/model"
)

// inventoryEvery is the least time between two sums over all pods, which are expensive.
const inventoryEvery = 15 * time.Second

// inventory is a Prometheus collector with series for each node and for each offering
// of each instance type. It keeps sums of the last snapshot, not the snapshot.
type inventory struct {
	nodeResource            [3]*prometheus.Desc
	lifetime, cores, memory *prometheus.Desc
	price, available        *prometheus.Desc
	mu                      sync.Mutex
	takenAt                 time.Time
	nodes                   []nodeRow
	types                   []model.InstanceType
}

// nodeRow is one node: its labels, its allocatable resources, and the sums of what
// pods of workloads and pods of DaemonSets request on it.
type nodeRow struct {
	labels                          []*dto.LabelPair
	launched                        time.Time
	allocatable, workloads, daemons model.Resources
}

// resourceUse is how much of a resource nodes have and pods request.
type resourceUse struct{ allocatable, requested float64 }

func newInventory() *inventory {
	node := []string{"node_name", "nodepool", "instance_type", "zone", "capacity_type", "arch", "os", "region"}
	each := append(slices.Clip(node), "resource_type")
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return &inventory{
		nodeResource: [3]*prometheus.Desc{
			desc("karpenter_nodes_allocatable", "What pods may use of a node.", each...),
			desc("karpenter_nodes_total_pod_requests", "What the pods on a node request, those of DaemonSets not included.", each...),
			desc("karpenter_nodes_total_daemon_requests", "What the pods of DaemonSets on a node request.", each...),
		},
		lifetime:  desc("karpenter_nodes_current_lifetime_seconds", "How long a node has run.", node...),
		cores:     desc("karpenter_cloudprovider_instance_type_cpu_cores", "Virtual cores of an instance type.", "instance_type"),
		memory:    desc("karpenter_cloudprovider_instance_type_memory_bytes", "Memory of an instance type.", "instance_type"),
		price:     desc("karpenter_cloudprovider_instance_type_offering_price_estimate", "Price of an offering, in USD per hour.", "instance_type", "capacity_type", "zone"),
		available: desc("karpenter_cloudprovider_instance_type_offering_available", "1 for an offering that can be launched, 0 for one that was sold out a short while ago.", "instance_type", "capacity_type", "zone"),
	}
}

// observe adds up the pods, if inventoryEvery has passed; then it returns the sums of
// all nodes, else nil.
func (v *inventory) observe(s *model.Snapshot) map[string]resourceUse {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.takenAt.IsZero() && s.Time.Sub(v.takenAt) < inventoryEvery && s.Time.After(v.takenAt) {
		return nil
	}
	v.takenAt, v.types = s.Time, types(s)
	at, shared := make([]int, len(s.Nodes)), labelCache{}
	v.nodes = v.nodes[:0]
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if at[i] = -1; n.State == model.InFlight {
			continue
		}
		pool := ""
		if n.Pool >= 0 {
			pool = s.Pools[n.Pool].Name
		}
		at[i] = len(v.nodes)
		v.nodes = append(v.nodes, nodeRow{
			labels:      v.nodeLabels(n, pool, shared),
			launched:    n.LaunchedAt,
			allocatable: n.Allocatable, workloads: model.Resources{}, daemons: model.Resources{},
		})
	}
	for i := range s.Pods {
		p := &s.Pods[i]
		if p.Node < 0 || at[p.Node] < 0 {
			continue
		}
		r := &v.nodes[at[p.Node]]
		if p.Daemon {
			r.daemons.Add(s.Specs[p.Spec].Requests)
		} else {
			r.workloads.Add(s.Specs[p.Spec].Requests)
		}
	}
	return v.total()
}

// nodeLabels returns the labels of a node, in ascending order of their names.
func (*inventory) nodeLabels(n *model.Node, pool string, shared labelCache) []*dto.LabelPair {
	return []*dto.LabelPair{
		shared.get("arch", n.Labels[corev1.LabelArchStable]), shared.get("capacity_type", string(n.CapacityType)), shared.get("instance_type", n.InstanceType),
		labelPairs("node_name", n.Name)[0], shared.get("nodepool", pool), shared.get("os", n.Labels[corev1.LabelOSStable]),
		shared.get("region", n.Labels[corev1.LabelTopologyRegion]), shared.get("zone", n.Zone),
	}
}

func (v *inventory) total() map[string]resourceUse {
	out := map[string]resourceUse{}
	for i := range v.nodes {
		r := &v.nodes[i]
		for name, n := range r.allocatable {
			t := out[name]
			t.allocatable += float64(n)
			t.requested += float64(r.workloads[name] + r.daemons[name])
			out[name] = t
		}
	}
	return out
}

// types returns the instance types of all catalogues, each once.
func types(s *model.Snapshot) []model.InstanceType {
	if len(s.Catalogs) == 1 {
		return s.Catalogs[0].Types
	}
	var out []model.InstanceType
	seen := map[string]bool{}
	for c := range s.Catalogs {
		for t := range s.Catalogs[c].Types {
			if name := s.Catalogs[c].Types[t].Name; !seen[name] {
				seen[name] = true
				out = append(out, s.Catalogs[c].Types[t])
			}
		}
	}
	return out
}

// Describe implements prometheus.Collector.
func (v *inventory) Describe(out chan<- *prometheus.Desc) {
	for _, d := range append(v.nodeResource[:], v.lifetime, v.cores, v.memory, v.price, v.available) {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (v *inventory) Collect(out chan<- prometheus.Metric) {
	v.mu.Lock()
	defer v.mu.Unlock()
	resources := map[string]*dto.LabelPair{}
	for i := range v.nodes {
		v.node(&v.nodes[i], resources, out)
	}
	for i := range v.types {
		v.offered(&v.types[i], out)
	}
}

func (v *inventory) node(r *nodeRow, resources map[string]*dto.LabelPair, out chan<- prometheus.Metric) {
	for name := range r.allocatable {
		if resources[name] == nil {
			resources[name] = labelPairs("resource_type", name)[0]
		}
		zone := len(r.labels) - 1 // resource_type stands between region and zone
		labels := append(append(r.labels[:zone:zone], resources[name]), r.labels[zone])
		for k, amounts := range []model.Resources{r.allocatable, r.workloads, r.daemons} {
			out <- gaugeSample{v.nodeResource[k], labels, unit(name, amounts[name])}
		}
	}
	if !r.launched.IsZero() {
		out <- gaugeSample{v.lifetime, r.labels, max(0, v.takenAt.Sub(r.launched)).Seconds()}
	}
}

func (v *inventory) offered(t *model.InstanceType, out chan<- prometheus.Metric) {
	name := labelPairs("instance_type", t.Name)
	out <- gaugeSample{v.cores, name, unit(model.CPU, t.Capacity[model.CPU])}
	out <- gaugeSample{v.memory, name, float64(t.Capacity[model.Memory])}
	said := map[[2]string]bool{}
	for i := range t.Offerings {
		o := &t.Offerings[i]
		key := [2]string{string(o.CapacityType), o.Zone}
		if said[key] { // a zone may have several reservations of a type
			continue
		}
		said[key] = true
		can := 0.0
		if o.Available {
			can = 1
		}
		labels := labelPairs("capacity_type", key[0], "instance_type", t.Name, "zone", key[1])
		out <- gaugeSample{v.price, labels, o.Price.USD()}
		out <- gaugeSample{v.available, labels, can}
	}
}
