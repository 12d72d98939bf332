package applied

import (
	"fmt"
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Index finds the instance types of a snapshot's catalogues by name, and makes nodes of the
// planned ones.
type Index struct {
	s *model.Snapshot
	// byName are the types of each catalogue.
	byName []map[string]*model.InstanceType
}

// NewIndex returns the index of a snapshot, which must not change afterwards.
func NewIndex(s *model.Snapshot) Index {
	out := Index{s: s}
	for _, c := range s.Catalogs {
		types := make(map[string]*model.InstanceType, len(c.Types))
		for i := range c.Types {
			types[c.Types[i].Name] = &c.Types[i]
		}
		out.byName = append(out.byName, types)
	}
	return out
}

// Type returns a type of the pool's catalogue, nil when the catalogue lacks it.
func (x *Index) Type(pool int32, name string) *model.InstanceType {
	if pool < 0 || x.s.Pools[pool].Catalog < 0 {
		return nil
	}
	return x.byName[x.s.Pools[pool].Catalog][name]
}

// Node returns a planned node, with its best option, as a registered node. at distinguishes
// its name from those of other planned nodes.
func (x *Index) Node(n *model.PlannedNode, at int) model.Node {
	best := &n.Options[0]
	out := model.Node{
		Name: fmt.Sprintf("planned-%s-%d", x.s.Pools[n.Pool].Name, at), Pool: n.Pool, State: model.Registered,
		InstanceType: best.InstanceType, Zone: best.Zone, CapacityType: best.CapacityType,
		Price: best.Price, Extra: x.s.NodeCost(n.Pool), Labels: x.Labels(n), Taints: x.s.Pools[n.Pool].Taints,
	}
	if t := x.Type(n.Pool, best.InstanceType); t != nil {
		out.Allocatable = t.Allocatable
	}
	out.Labels["kubernetes.io/hostname"] = out.Name
	return out
}

// Labels returns the labels of a planned node launched with its best option.
func (x *Index) Labels(n *model.PlannedNode) map[string]string {
	best := &n.Options[0]
	pool := &x.s.Pools[n.Pool]
	out := map[string]string{}
	if t := x.Type(n.Pool, best.InstanceType); t != nil {
		maps.Copy(out, t.Labels)
		if at := slices.IndexFunc(t.Offerings, func(o model.Offering) bool { return o.Zone == best.Zone && o.ZoneID != "" }); at >= 0 {
			out["topology.k8s.aws/zone-id"] = t.Offerings[at].ZoneID
		}
	}
	out["topology.kubernetes.io/zone"] = best.Zone
	out["karpenter.sh/capacity-type"] = string(best.CapacityType)
	out["karpenter.sh/nodepool"] = pool.Name
	maps.Copy(out, pool.NodeLabels)
	maps.Copy(out, n.Labels)
	return out
}

// AddUsage adds a node to its pool's usage. pools is the caller's own copy.
func (x *Index) AddUsage(pools []model.Pool, n *model.Node) {
	pool := &pools[n.Pool]
	usage := pool.Usage.Clone()
	if t := x.Type(n.Pool, n.InstanceType); t != nil {
		usage.Add(t.Capacity)
	}
	usage[model.NodeCount]++
	pool.Usage = usage
}

// Snapshot returns the snapshot with the plan carried out: the planned nodes follow the
// nodes of s, in the order of the plan. s has the catalogues and pools of the index.
func (x *Index) Snapshot(s *model.Snapshot, plan *model.Plan) *model.Snapshot {
	out := *s
	out.Nodes, out.Pods, out.Pools = slices.Clone(s.Nodes), slices.Clone(s.Pods), slices.Clone(s.Pools)
	for _, a := range plan.Existing {
		for _, i := range a.Pods {
			out.Pods[i].Node = a.Node
		}
	}
	for i := range plan.Nodes {
		at := int32(len(out.Nodes))
		n := x.Node(&plan.Nodes[i], int(at))
		out.Nodes = append(out.Nodes, n)
		x.AddUsage(out.Pools, &n)
		for _, p := range plan.Nodes[i].Pods {
			out.Pods[p].Node = at
		}
	}
	return &out
}

// Headroom returns the headroom less the new nodes' cost, each at the worst of its options.
func Headroom(headroom []model.Headroom, s *model.Snapshot, nodes []model.PlannedNode) []model.Headroom {
	out := slices.Clone(headroom)
	for h := range out {
		for i := range nodes {
			if out[h].Pools == nil || out[h].Pools[nodes[i].Pool] {
				out[h].Left -= nodes[i].Worst() + s.NodeCost(nodes[i].Pool)
			}
		}
	}
	return out
}
