package disrupt

import (
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// typeIndex finds the instance types of nodes, and what follows from them: prices, usage
// of the pools' limits, and the nodes that a plan adds.
type typeIndex struct {
	s *model.Snapshot
	// byName are the types of each catalogue.
	byName []map[string]*model.InstanceType
}

func newTypeIndex(s *model.Snapshot) typeIndex {
	out := typeIndex{s: s}
	for _, c := range s.Catalogs {
		types := make(map[string]*model.InstanceType, len(c.Types))
		for i := range c.Types {
			types[c.Types[i].Name] = &c.Types[i]
		}
		out.byName = append(out.byName, types)
	}
	return out
}

// of returns a type of the pool's catalogue, nil when the catalogue lacks it.
func (x *typeIndex) of(pool int32, name string) *model.InstanceType {
	if pool < 0 || x.s.Pools[pool].Catalog < 0 {
		return nil
	}
	return x.byName[x.s.Pools[pool].Catalog][name]
}

// prices are a node's hourly prices, volumes and address included: the billed price,
// and the effective cost of the rank policies in USD.
type prices struct {
	billed    model.Price
	effective float64
}

// prices returns the prices of a node. An offering that the rank policies exclude, or
// that is no longer in the catalogue, has its billed price as effective cost.
func (x *typeIndex) prices(n *model.Node, costs []solver.Costs) prices {
	if n.PriceAssumed {
		return prices{} // nobody counts on saving an assumption
	}
	out := prices{n.Cost(), n.Cost().USD()}
	t := x.of(n.Pool, n.InstanceType)
	if t == nil || int(n.Pool) >= len(costs) || costs[n.Pool] == nil {
		return out
	}
	catalog := &x.s.Catalogs[x.s.Pools[n.Pool].Catalog]
	at := slices.IndexFunc(catalog.Types, func(o model.InstanceType) bool { return o.Name == t.Name })
	for o := range t.Offerings {
		of := &t.Offerings[o]
		if of.Zone != n.Zone || of.CapacityType != n.CapacityType {
			continue
		}
		if e := &costs[n.Pool][at][o]; !e.Excluded && len(e.Tiers) > 0 {
			out.effective = e.Tiers[0].Cost + n.Extra.USD()
		}
	}
	return out
}

// poolsWithout returns the pools with the removed nodes deducted from their usage, so that a
// pool at its limit can still be replaced. A static pool's usage stays: its limit
// must cover a node and its replacement, which both exist for some time.
func (x *typeIndex) poolsWithout(pools []model.Pool, nodes []model.Node, removed []int32) []model.Pool {
	out := slices.Clone(pools)
	for _, i := range removed {
		n := &nodes[i]
		p := &out[n.Pool]
		if len(p.Limits) == 0 || p.Replicas != nil {
			continue
		}
		p.Usage = p.Usage.Clone()
		p.Usage[model.NodeCount]--
		capacity := n.Allocatable
		if t := x.of(n.Pool, n.InstanceType); t != nil {
			capacity = t.Capacity
		}
		for name, amount := range capacity {
			p.Usage[name] = max(0, p.Usage[name]-amount)
		}
	}
	return out
}

// node returns a planned node, with its best option, as a registered node.
func (x *typeIndex) node(n *model.PlannedNode) model.Node {
	best := &n.Options[0]
	pool := &x.s.Pools[n.Pool]
	out := model.Node{
		Name: "planned-" + pool.Name, Pool: n.Pool, State: model.Registered,
		InstanceType: best.InstanceType, Zone: best.Zone, CapacityType: best.CapacityType,
		Price: best.Price, Extra: x.s.NodeCost(n.Pool), Labels: map[string]string{}, Taints: pool.Taints,
	}
	if t := x.of(n.Pool, best.InstanceType); t != nil {
		maps.Copy(out.Labels, t.Labels)
		out.Allocatable = t.Allocatable
	}
	out.Labels["topology.kubernetes.io/zone"] = best.Zone
	out.Labels["karpenter.sh/capacity-type"] = string(best.CapacityType)
	out.Labels["karpenter.sh/nodepool"] = pool.Name
	maps.Copy(out.Labels, pool.NodeLabels)
	maps.Copy(out.Labels, n.Labels)
	return out
}

// addUsage adds a node to its pool's usage.
func (x *typeIndex) addUsage(pools []model.Pool, n *model.Node) {
	pool := &pools[n.Pool]
	usage := pool.Usage.Clone()
	if t := x.of(n.Pool, n.InstanceType); t != nil {
		usage.Add(t.Capacity)
	}
	usage[model.NodeCount]++
	pool.Usage = usage
}
