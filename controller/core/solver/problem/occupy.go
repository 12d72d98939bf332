package problem

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/vec"
)

// Hosts returns the nodes that may take pods: initialized ones first, then those
// that are still being launched, each sorted by name. Nodes that are being deleted
// have no free capacity but are included, since their pods still count.
func (p *Problem) Hosts() []Host {
	nodes := p.Snapshot.Nodes
	order := vec.Ordered(len(nodes), func(a, b int32) int {
		if o := cmp.Compare(stateOrder(nodes[a].State), stateOrder(nodes[b].State)); o != 0 {
			return o
		}
		return cmp.Compare(nodes[a].Name, nodes[b].Name)
	})
	out := make([]Host, 0, len(nodes))
	at := make([]int32, len(nodes))
	for _, i := range order {
		n := &nodes[i]
		at[i] = int32(len(out))
		out = append(out, Host{
			Node: i, Free: p.Supply.Dims.Vector(n.Allocatable), rare: p.Supply.Dims.RareOf(n.Allocatable), dims: &p.Supply.Dims,
			Taints: constraint.PermanentTaints(n, p.Snapshot.Pools), Labels: NodeLabels(p.Snapshot, n), admissions: p.admissions,
		})
	}
	occupyHosts(p, out, at)
	return out
}

func stateOrder(s model.NodeState) int {
	switch s {
	case model.Initialized, model.Unmanaged:
		return 0
	case model.Registered:
		return 1
	case model.InFlight, model.Deleting:
		return 2
	}
	return 3
}

// occupyHosts deducts the requests of the pods on the hosts, and of the DaemonSet pods
// that will run there.
func occupyHosts(p *Problem, hosts []Host, at []int32) {
	moving := make([]bool, len(p.Snapshot.Pods))
	for _, i := range p.Pods {
		moving[i] = true
	}
	daemons := make([][]int32, len(hosts))
	weights := make([]*podUsage, len(p.Snapshot.Specs))
	for i := range p.Snapshot.Pods {
		pod := &p.Snapshot.Pods[i]
		if moving[i] || pod.Node < 0 || int(pod.Node) >= len(at) || at[pod.Node] < 0 {
			continue
		}
		h := &hosts[at[pod.Node]]
		w := weights[pod.Spec]
		if w == nil {
			w = usageOf(p, &p.Snapshot.Specs[pod.Spec])
			weights[pod.Spec] = w
		}
		h.occupy(w)
		h.Counts.AddResident(p.Topology.Of(pod.Spec))
		if pod.Daemon {
			daemons[at[pod.Node]] = append(daemons[at[pod.Node]], int32(i))
		}
	}
	coming := make([]*podUsage, len(p.Snapshot.Daemons))
	for d := range p.Snapshot.Daemons {
		coming[d] = usageOf(p, &p.Snapshot.Daemons[d].Spec)
	}
	for i := range hosts {
		h := &hosts[i]
		for d := range p.Snapshot.Daemons {
			set := &p.Snapshot.Daemons[d]
			if !hasDaemonPod(p.Snapshot, set, daemons[i]) && h.suits(&set.Spec) {
				h.occupy(coming[d])
			}
		}
		h.closeAccounts(p.Snapshot.Nodes[h.Node].State)
	}
}

// podUsage is what a pod uses of its host.
type podUsage struct {
	req   vec.Vector
	rare  []int64
	ports int32
}

func usageOf(p *Problem, s *model.PodSpec) *podUsage {
	return &podUsage{req: p.Supply.Dims.Uses(s.Requests), rare: p.Supply.Dims.RareOf(s.Requests), ports: p.Ports.ID(s.HostPorts)}
}

// hasDaemonPod reports whether one of the pods belongs to the DaemonSet.
func hasDaemonPod(s *model.Snapshot, set *model.DaemonSet, pods []int32) bool {
	return slices.ContainsFunc(pods, func(i int32) bool { return set.Owns(&s.Pods[i]) })
}

// NodeLabels returns a lookup of the node's labels. Labels that follow from its
// fields are added, and for a node in flight those of its instance type.
func NodeLabels(s *model.Snapshot, n *model.Node) func(string) (string, bool) {
	typ := nodeType(s, n)
	return func(key string) (string, bool) {
		if v, ok := n.Labels[key]; ok {
			return v, true
		}
		switch key {
		case constraint.LabelHostname:
			return n.Name, true
		case constraint.LabelZone:
			return n.Zone, n.Zone != ""
		case constraint.LabelCapacityType:
			return string(n.CapacityType), n.CapacityType != ""
		case constraint.LabelInstanceType:
			return n.InstanceType, n.InstanceType != ""
		case constraint.LabelPool:
			if n.Pool >= 0 && int(n.Pool) < len(s.Pools) {
				return s.Pools[n.Pool].Name, true
			}
			return "", false
		}
		if typ != nil {
			return constraint.TypeLabel(typ, key)
		}
		return "", false
	}
}

// nodeType returns the instance type of a node in flight, nil for other nodes.
func nodeType(s *model.Snapshot, n *model.Node) *model.InstanceType {
	if n.State != model.InFlight || n.Pool < 0 || int(n.Pool) >= len(s.Pools) {
		return nil
	}
	c := s.Pools[n.Pool].Catalog
	if c < 0 || int(c) >= len(s.Catalogs) {
		return nil
	}
	types := s.Catalogs[c].Types
	for i := range types {
		if types[i].Name == n.InstanceType {
			return &types[i]
		}
	}
	return nil
}
