package scenario

import (
	"math"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/kube/lower"
)

// extras returns what a pool's node costs per hour besides its instance.
func (o *Objects) extras(s *model.Snapshot, pool *model.Pool) (ebs, ipv4 model.Price) {
	if o.Taken != nil {
		for _, c := range o.Taken.NodeCosts {
			if c.NodeClass == pool.NodeClass {
				return c.EBS, c.IPv4
			}
		}
		return 0, 0
	}
	region := ""
	if pool.Catalog >= 0 {
		region = s.Catalogs[pool.Catalog].Region
	}
	return lower.NodeCost(o.class(pool.NodeClass), region, nil)
}

// utilisation returns, by resource, the share of the new nodes' allocatable amount that
// pods and DaemonSets request. Resources that no new node has are left out.
func utilisation(s *model.Snapshot, plan *model.Plan) map[string]float64 {
	asked, held := model.Resources{}, model.Resources{}
	for i := range plan.Nodes {
		n := &plan.Nodes[i]
		if len(n.Options) == 0 {
			continue
		}
		types := s.Catalogs[s.Pools[n.Pool].Catalog].Types
		for t := range types {
			if types[t].Name == n.Options[0].InstanceType {
				held.Add(types[t].Allocatable)
				break
			}
		}
		asked.Add(n.Requests)
	}
	out := map[string]float64{}
	for name, amount := range asked {
		if held[name] > 0 && !model.CountsVolumes(name) {
			out[name] = math.Round(float64(amount)/float64(held[name])*1e4) / 1e4
		}
	}
	return out
}
