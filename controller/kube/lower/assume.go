package lower

import (
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

const (
	// assumedPerCPU is the price of a virtual CPU per hour, in micro-dollars, of a node
	// of which nothing but its size is known. It is above that of every instance type
	// without accelerators in the embedded catalogue that is priced in dollars.
	assumedPerCPU model.Price = 600_000
	// assumedCPUs is the size of a node of which not even that is known.
	assumedCPUs = 16
)

// assume returns a price for a node whose price nobody knows, on the high side: the
// highest price of its type in any zone; of a type that is not sold, the highest price
// of any type that has no more virtual CPUs than the node and no resource that the node
// lacks; without a catalogue, assumedPerCPU for each virtual CPU. capacity is what the
// claim, not the node, says of the node's size; nil when that is not known, which
// counts as the largest type.
func (b *builder) assume(instanceType string, capacity model.Resources) model.Price {
	most := model.Price(0)
	for i := range b.types {
		if t := b.types[i][instanceType]; t != nil {
			most = max(most, dearest(t))
		}
	}
	if most > 0 {
		return most
	}
	for i := range b.types {
		for _, t := range b.types[i] {
			if within(t.Capacity, capacity) {
				most = max(most, dearest(t))
			}
		}
	}
	if most > 0 {
		return most
	}
	cpus := model.Price(assumedCPUs)
	if milli := capacity[cpu]; milli > 0 {
		cpus = model.Price((milli + 999) / 1000)
	}
	return cpus * assumedPerCPU
}

func dearest(t *model.InstanceType) model.Price {
	most := model.Price(0)
	for i := range t.Offerings {
		most = max(most, t.Offerings[i].Price)
	}
	return most
}

// within reports whether a type has no more CPUs than the capacity and no resource that
// the capacity lacks. Nothing is known of a nil capacity, so everything is within it.
func within(of, capacity model.Resources) bool {
	if len(capacity) == 0 {
		return true
	}
	for name := range of {
		if _, has := capacity[name]; !has {
			return false
		}
	}
	return of[cpu] <= capacity[cpu]
}

const cpu = "cpu"

// priceUnclaimed sets the price of a node that Spokeshave launched and whose claim is
// gone.
func (b *builder) priceUnclaimed(n *model.Node) {
	o := model.Option{InstanceType: n.InstanceType, Zone: n.Zone, CapacityType: n.CapacityType}
	if n.Price = b.priceIn(-1, &o); n.Price > 0 {
		return
	}
	n.Price, n.PriceAssumed = b.assume(n.InstanceType, nil), true
	b.report(karpv1.EventPriceUnknown, "Node "+n.Name, "no price of %s is known: counted as %.4f $/h", n.InstanceType, n.Price.USD())
}
