package check

import "spokeshave.dev/controller/core/model"

// proveHeadroom proves that the new nodes stay within every ceiling, each
// launched as its most expensive option.
func (p *proof) proveHeadroom() {
	for _, h := range p.given.Headroom {
		var sum model.Price
		launches := 0
		for i := range p.plan.Nodes {
			n := &p.plan.Nodes[i]
			if h.Pools != nil && (n.Pool < 0 || int(n.Pool) >= len(h.Pools) || !h.Pools[n.Pool]) {
				continue
			}
			highest := model.Price(0)
			for _, o := range n.Options {
				highest = max(highest, o.Price)
			}
			sum += highest + p.snapshot.NodeCost(n.Pool)
			launches++
		}
		if launches > 0 && sum > h.Left {
			p.reject(OverHeadroom, h.Scope, "%d launches cost up to %s $/h, and %s is left", launches, sum, h.Left)
		}
	}
}

// proveLimits proves that each NodePool stays within its limits, each node
// launched as its largest option.
func (p *proof) proveLimits() {
	for i := range p.snapshot.Pools {
		pool := &p.snapshot.Pools[i]
		for name, limit := range pool.Limits {
			sum, launches := pool.Usage[name], 0
			for k := range p.plan.Nodes {
				if n := &p.plan.Nodes[k]; int(n.Pool) == i {
					sum += p.capacityAtMost(n, name)
					launches++
				}
			}
			if launches > 0 && sum > limit {
				p.reject(Limits, "pool "+pool.Name, "%s would be up to %d, the limit is %d", name, sum, limit)
			}
		}
	}
}

// capacityAtMost is the largest capacity of a resource among a node's options.
func (p *proof) capacityAtMost(n *model.PlannedNode, name string) int64 {
	if name == model.NodeCount {
		return 1
	}
	largest := int64(0)
	for _, o := range n.Options {
		if t := p.typeNamed(n.Pool, o.InstanceType); t != nil {
			largest = max(largest, t.Capacity[name])
		}
	}
	return largest
}

// proveReservations proves that no capacity reservation is used by more nodes
// than it has free, if every node is launched as its first option.
func (p *proof) proveReservations() {
	type reservedOffering struct {
		fromCatalog    int32
		typeName, zone string
	}
	launches := map[reservedOffering]int{}
	for i := range p.plan.Nodes {
		n := &p.plan.Nodes[i]
		if len(n.Options) == 0 || n.Options[0].CapacityType != model.Reserved {
			continue
		}
		o := &n.Options[0]
		t := p.typeNamed(n.Pool, o.InstanceType)
		if t == nil {
			continue // reported with the node
		}
		key := reservedOffering{p.snapshot.Pools[n.Pool].Catalog, o.InstanceType, o.Zone}
		launches[key]++
		for k := range t.Offerings {
			f := &t.Offerings[k]
			if f.CapacityType == model.Reserved && f.Zone == o.Zone && f.Reservation != nil && launches[key] > f.Reservation.Free {
				p.reject(Reserved, p.titleOf(i), "the reservation of %s in %s has %d free", o.InstanceType, o.Zone, f.Reservation.Free)
			}
		}
	}
}
