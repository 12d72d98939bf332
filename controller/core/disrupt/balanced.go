package disrupt

import (
	"fmt"

	"spokeshave.dev/controller/core/model"
)

// balance is the factor by which a saving's share may be smaller than the share of
// the disruption under consolidationPolicy Balanced, as in Karpenter.
const balance = 2

// balanced reports whether a saving is worth its disruption for each pool with
// consolidationPolicy Balanced, as Karpenter computes it. Each such pool compares the
// share of its cost that is saved with the share of its disruption cost. Of a saving on
// nodes of several pools, a pool's part is that of its nodes' price.
func (sc *Projection) balanced(nodes []int32, saves float64) bool {
	goes, price := map[int32]total{}, 0.0
	for _, i := range nodes {
		pool := sc.snap.Nodes[i].Pool
		t := goes[pool]
		t.price += sc.prices[i].effective
		t.disruption += sc.survey.EvictionCost(i)
		goes[pool], price = t, price+sc.prices[i].effective
	}
	for pool, part := range goes {
		if pool < 0 || sc.snap.Pools[pool].Disruption.Policy != "Balanced" {
			continue
		}
		share := saves
		if len(goes) > 1 && price > 0 {
			share *= part.price / price
		}
		whole := sc.totals()[pool]
		if share <= 0 || whole.price <= 0 || balance*share/whole.price < part.disruption/whole.disruption {
			return false
		}
	}
	return true
}

// unworthy returns the reason for a saving that is too small.
func unworthy(usd float64) string {
	return fmt.Sprintf("%.4f $/h could be saved, too little for the disruption under consolidationPolicy Balanced", usd)
}

// total is the effective cost of nodes of a pool and the cost of disrupting all of them.
type total struct{ price, disruption float64 }

// totals returns the totals by pool. The first call computes them.
func (sc *Projection) totals() []total {
	if sc.poolTotals == nil {
		sc.poolTotals = make([]total, len(sc.snap.Pools))
		for i := range sc.survey.s.Nodes {
			if n := &sc.survey.s.Nodes[i]; n.Pool >= 0 && n.State != model.Deleting {
				sc.poolTotals[n.Pool].price += sc.prices[i].effective
				sc.poolTotals[n.Pool].disruption += sc.survey.EvictionCost(int32(i))
			}
		}
	}
	return sc.poolTotals
}
