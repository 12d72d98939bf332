package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/applied"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// typeIndex finds the instance types of nodes, and what follows from them: prices, and usage
// of the pools' limits.
type typeIndex struct {
	applied.Index
	s *model.Snapshot
}

func newTypeIndex(s *model.Snapshot) typeIndex { return typeIndex{applied.NewIndex(s), s} }

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
	if e := x.effective(n, costs); e != nil && !e.Excluded && len(e.Tiers) > 0 {
		out.effective = e.Tiers[0].Cost + n.Extra.USD()
	}
	return out
}

// effective returns what the rank policies say of a node's offering; nil when none was
// asked, or the offering is no longer in the catalogue.
func (x *typeIndex) effective(n *model.Node, costs []solver.Costs) *solver.Effective {
	t := x.Type(n.Pool, n.InstanceType)
	if t == nil || int(n.Pool) >= len(costs) || costs[n.Pool] == nil {
		return nil
	}
	catalog := &x.s.Catalogs[x.s.Pools[n.Pool].Catalog]
	at := slices.IndexFunc(catalog.Types, func(o model.InstanceType) bool { return o.Name == t.Name })
	for o := range t.Offerings {
		if of := &t.Offerings[o]; of.Zone == n.Zone && of.CapacityType == n.CapacityType {
			return &costs[n.Pool][at][o]
		}
	}
	return nil
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
		if t := x.Type(n.Pool, n.InstanceType); t != nil {
			capacity = t.Capacity
		}
		for name, amount := range capacity {
			p.Usage[name] = max(0, p.Usage[name]-amount)
		}
	}
	return out
}
