package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// costsWithout returns what offerings cost, by pool, in the projection without the nodes, and
// why not everything about them is known, "" when it is.
func (sc *Projection) costsWithout(nodes ...int32) (costs []solver.Costs, unknown string) {
	if sc.Recost == nil {
		return sc.In.Costs, ""
	}
	gone := make([]bool, len(sc.snap.Nodes))
	copy(gone, sc.removed)
	for _, i := range nodes {
		gone[i] = true
	}
	costs, why := sc.Recost(sc.snap.Nodes, gone)
	for _, i := range nodes {
		if why != nil && why[sc.snap.Nodes[i].Pool] != "" {
			return costs, why[sc.snap.Nodes[i].Pool]
		}
	}
	return costs, ""
}

// recost sets all costs of a projection to those without the nodes, and theirs to what they
// would cost if they were launched again. The function that it returns takes that back. unknown
// says why that is not known.
func recost(sc *Projection, nodes []int32) (restore func(), unknown string) {
	if sc.Recost == nil {
		return func() {}, ""
	}
	costs, before := sc.In.Costs, slices.Clone(sc.prices)
	sc.In.Costs, unknown = sc.costsWithout(nodes...)
	sc.types.buyAnew(sc.snap.Nodes, nodes, sc.In.Costs, sc.prices)
	return func() { sc.In.Costs, sc.prices = costs, before }, unknown
}

// buyAnew sets the effective prices of some of the nodes to what they would cost if they were
// launched again at the given costs, one after the other: what they would use up of a tier of
// the rank policies counts once.
func (x *typeIndex) buyAnew(nodes []model.Node, some []int32, costs []solver.Costs, out []prices) {
	type offering struct {
		pool               int32
		instanceType, zone string
		capacityType       model.CapacityType
	}
	came := map[offering]uint32{}
	taken := map[int32]float64{}
	for _, i := range some {
		n := &nodes[i]
		e := x.effective(n, costs)
		if n.PriceAssumed || e == nil || e.Excluded {
			out[i] = x.prices(n, costs)
			continue
		}
		at := offering{n.Pool, n.InstanceType, n.Zone, n.CapacityType}
		out[i].effective = n.Extra.USD() + next(e, came[at], taken, n.Price.USD())
		came[at]++
	}
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
