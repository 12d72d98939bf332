package disrupt

import "spokeshave.dev/controller/core/solver"

// promising estimates the gain of each option and drops those without one.
func (x *search) promising(open []Option) []Option {
	r := x.projection.capacity()
	units := unitPrices{search: x, r: r}
	out := open[:0:0]
	for _, o := range open {
		costs, _ := x.projection.costsWithout(o.Node) // known: see Search
		unit := units.of(costs)
		r.exclude(o.Node)
		moves, lost := r.placeBestFit(x.projection.survey.moving[o.Node])
		r.undo(moves)
		r.include(o.Node)
		saves := o.price - bound(r, unit, lost)
		o.gain = saves - x.projection.survey.MoveCost(o.Node)
		o.worth = o.gain / (1 + o.Cost)
		switch {
		case o.gain > o.price*roundingShare:
			out = append(out, o)
		case saves > o.price*roundingShare:
			x.projection.record([]int32{o.Node}, SavingTooSmall, x.projection.survey.notWorthMoving("at most ", saves, []int32{o.Node}))
		}
	}
	byWorth(out)
	return out
}

// bound returns a lower bound on the cost of new nodes for the pods, in USD/hour:
// for each resource their requests times the lowest unit price, of which the largest
// counts.
func bound(r *capacityIndex, unit []float64, pods []int32) float64 {
	sum := make([]int64, len(unit))
	for _, p := range pods {
		add(sum, r.requests[r.s.Pods[p].Spec], 1)
	}
	least := 0.0
	for d, n := range sum {
		least = max(least, float64(n)*unit[d])
	}
	return least
}

// unitPrices are, per resource, the lowest effective price of one unit among all
// offerings that can be launched.
type unitPrices struct {
	search *search
	r      *capacityIndex
	// known are those of the costs by the first pool's, which equal costs share.
	known map[*solver.Costs][]float64
}

// of returns the unit prices by the costs of the pools.
func (u *unitPrices) of(costs []solver.Costs) []float64 {
	var key *solver.Costs
	if len(costs) > 0 {
		key = &costs[0]
	}
	if out, ok := u.known[key]; ok {
		return out
	}
	unit := make([]float64, len(u.r.dims))
	snap := &u.search.projection.snap
	for p := range snap.Pools {
		pool := &snap.Pools[p]
		if pool.Catalog < 0 || pool.NotReady != "" {
			continue
		}
		types := snap.Catalogs[pool.Catalog].Types
		for t := range types {
			u.ofType(unit, costs, p, t)
		}
	}
	if u.known == nil {
		u.known = map[*solver.Costs][]float64{}
	}
	u.known[key] = unit
	return unit
}

func (u *unitPrices) ofType(unit []float64, costs []solver.Costs, pool, typ int) {
	snap := &u.search.projection.snap
	t := &snap.Catalogs[snap.Pools[pool].Catalog].Types[typ]
	for o := range t.Offerings {
		if !t.Offerings[o].Available {
			continue
		}
		cost, ok := effective(costs, pool, typ, o, t.Offerings[o].Price.USD())
		if !ok {
			continue
		}
		for name, d := range u.r.dims {
			if all := t.Allocatable[name]; all > 0 {
				if each := cost / float64(all); unit[d] == 0 || each < unit[d] {
					unit[d] = each
				}
			}
		}
	}
}

// effective returns the cost of an offering; false when a rank policy excluded it.
func effective(costs []solver.Costs, pool, typ, offering int, billed float64) (float64, bool) {
	if pool >= len(costs) || costs[pool] == nil {
		return billed, true
	}
	switch e := &costs[pool][typ][offering]; {
	case e.Excluded:
		return 0, false
	case len(e.Tiers) > 0:
		return e.Tiers[0].Cost, true
	default:
		return billed, true
	}
}
