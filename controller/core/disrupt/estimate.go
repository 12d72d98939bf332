package disrupt

// promising estimates the gain of each option and drops those without one.
func (x *search) promising(open []Option) []Option {
	r := x.projection.capacity()
	unit := x.unitPrices(r)
	out := open[:0:0]
	for _, o := range open {
		r.exclude(o.Node)
		moves, lost := r.placeBestFit(x.projection.survey.moving[o.Node])
		r.undo(moves)
		r.include(o.Node)
		o.gain = o.price - bound(r, unit, lost)
		o.worth = o.gain / (1 + o.Cost)
		if o.gain > o.price*roundingShare {
			out = append(out, o)
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

// unitPrices returns, per resource, the lowest effective price of one unit among all
// offerings that can be launched.
func (x *search) unitPrices(r *capacityIndex) []float64 {
	unit := make([]float64, len(r.dims))
	for p := range x.projection.snap.Pools {
		pool := &x.projection.snap.Pools[p]
		if pool.Catalog < 0 || pool.NotReady != "" {
			continue
		}
		types := x.projection.snap.Catalogs[pool.Catalog].Types
		for t := range types {
			x.unitPrice(r, unit, p, t)
		}
	}
	return unit
}

func (x *search) unitPrice(r *capacityIndex, unit []float64, pool, typ int) {
	t := &x.projection.snap.Catalogs[x.projection.snap.Pools[pool].Catalog].Types[typ]
	for o := range t.Offerings {
		if !t.Offerings[o].Available {
			continue
		}
		cost, ok := x.effective(pool, typ, o)
		if !ok {
			continue
		}
		for name, d := range r.dims {
			if all := t.Allocatable[name]; all > 0 {
				if each := cost / float64(all); unit[d] == 0 || each < unit[d] {
					unit[d] = each
				}
			}
		}
	}
}

// effective returns the cost of an offering; false when a rank policy excluded it.
func (x *search) effective(pool, typ, offering int) (float64, bool) {
	billed := x.projection.snap.Catalogs[x.projection.snap.Pools[pool].Catalog].Types[typ].Offerings[offering].Price.USD()
	if pool >= len(x.projection.In.Costs) || x.projection.In.Costs[pool] == nil {
		return billed, true
	}
	switch e := &x.projection.In.Costs[pool][typ][offering]; {
	case e.Excluded:
		return 0, false
	case len(e.Tiers) > 0:
		return e.Tiers[0].Cost, true
	default:
		return billed, true
	}
}
