package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// costsWithout returns what offerings cost, by pool, in the projection without the nodes.
func (sc *Projection) costsWithout(nodes ...int32) []solver.Costs {
	if sc.Recost == nil {
		return sc.In.Costs
	}
	gone := make([]bool, len(sc.snap.Nodes))
	copy(gone, sc.removed)
	for _, i := range nodes {
		gone[i] = true
	}
	return sc.Recost(sc.snap.Nodes, gone)
}

// boughtAnew returns the effective cost in USD/hour of some of the nodes if they were launched
// again at the given costs, one after the other: the tiers of the rank policies that they would
// use up count for each no more than once.
func (x *typeIndex) boughtAnew(nodes []model.Node, some []int32, costs []solver.Costs) float64 {
	sum := 0.0
	type offering struct {
		pool               int32
		instanceType, zone string
		capacityType       model.CapacityType
	}
	came := map[offering]uint32{}
	taken := map[int32]float64{}
	for _, i := range some {
		n := &nodes[i]
		if n.PriceAssumed {
			continue
		}
		e := x.effective(n, costs)
		if e == nil || e.Excluded {
			sum += n.Cost().USD()
			continue
		}
		at := offering{n.Pool, n.InstanceType, n.Zone, n.CapacityType}
		sum += n.Extra.USD() + next(e, came[at], taken, n.Price.USD())
		came[at]++
	}
	return sum
}

// next returns what one more node of an offering costs after so many, and takes its part of
// the tier's groups.
func next(e *solver.Effective, before uint32, taken map[int32]float64, billed float64) float64 {
	for _, t := range e.Tiers {
		full := slices.ContainsFunc(t.Shares, func(s solver.Share) bool { return taken[s.Group]+s.Part > 1+1e-9 })
		if full || t.Until != 0 && before >= t.Until {
			continue
		}
		for _, s := range t.Shares {
			taken[s.Group] += s.Part
		}
		return t.Cost
	}
	return billed
}
