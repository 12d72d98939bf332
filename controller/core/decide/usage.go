package decide

import (
	"strings"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// usage counts the running nodes that the rank policies are told about.
type usage struct {
	// pools and cluster count nodes by offering, with the option's price unset.
	// cluster leaves out nodes that are being deleted.
	pools   []map[model.Option]uint32
	cluster map[model.Option]uint32
	// families is the price of the on-demand nodes by family and total that of all
	// of them, in USD/hour.
	families map[string]float64
	total    float64
	// nodes and spot count the nodes of each pool, and those of them that are spot instances.
	nodes, spot []int
}

// used returns the usage. The first call of a decision computes it.
func (d *decider) used() *usage {
	if d.usage != nil {
		return d.usage
	}
	d.usage = usageOf(len(d.s.Pools), d.s.Nodes, nil)
	return d.usage
}

// usageOf counts the nodes of a number of pools, but for those that gone marks; nil marks
// none.
func usageOf(pools int, nodes []model.Node, gone []bool) *usage {
	u := &usage{
		pools: make([]map[model.Option]uint32, pools), cluster: map[model.Option]uint32{}, families: map[string]float64{},
		nodes: make([]int, pools), spot: make([]int, pools),
	}
	for i := range u.pools {
		u.pools[i] = map[model.Option]uint32{}
	}
	for i := range nodes {
		n := &nodes[i]
		if n.Pool < 0 || gone != nil && gone[i] {
			continue
		}
		u.nodes[n.Pool]++
		if n.CapacityType == model.Spot {
			u.spot[n.Pool]++
		}
		at := offeringOf(n)
		u.pools[n.Pool][at]++
		if n.State == model.Deleting {
			continue
		}
		u.cluster[at]++
		if n.CapacityType == model.OnDemand {
			family, _, _ := strings.Cut(n.InstanceType, ".")
			usd := max(n.Price, n.Reserved-n.Extra).USD()
			u.families[family] += usd
			u.total += usd
		}
	}
	return u
}

// offeringOf is the offering that a node is of, with the option's price unset.
func offeringOf(n *model.Node) model.Option {
	return model.Option{InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: n.CapacityType}
}

// fill sets the row's usage fields for the pool.
func (u *usage) fill(row *policy.RankRow, pool int) {
	at := model.Option{InstanceType: row.InstanceType, Zone: row.Zone, CapacityType: row.CapacityType}
	row.Running, row.RunningCluster = u.pools[pool][at], u.cluster[at]
	row.FamilyOnDemand = u.families[row.Family]
}
