package disrupt

import (
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// balance is the factor by which a saving's share may be smaller than the share of
// the disruption under consolidationPolicy Balanced, as in Karpenter.
const balance = 2

// balanced reports whether a saving is worth its disruption for the pools with
// consolidationPolicy Balanced. It compares the share of the pools' cost that is
// saved with the share of the pools' disruption cost.
func (sc *Projection) balanced(nodes []int32, saves, cost float64) bool {
	asked := false
	var pools []int32
	for _, i := range nodes {
		pool := sc.snap.Nodes[i].Pool
		if !slices.Contains(pools, pool) {
			pools = append(pools, pool)
		}
		asked = asked || sc.snap.Pools[pool].Disruption.Policy == "Balanced"
	}
	if !asked {
		return true
	}
	price, disruption := 0.0, 0.0
	for _, pool := range pools {
		t := sc.totals()[pool]
		price, disruption = price+t.price, disruption+t.disruption
	}
	if price == 0 || disruption == 0 {
		return false
	}
	return balance*saves/price >= (float64(len(nodes))+cost)/disruption
}

// unworthy returns the reason for a saving that is too small.
func unworthy(usd float64) string {
	return fmt.Sprintf("%.4f $/h could be saved, too little for the disruption under consolidationPolicy Balanced", usd)
}

// total is the effective cost of a pool's nodes and the cost of disrupting all of
// them.
type total struct{ price, disruption float64 }

// totals returns the totals by pool. The first call computes them.
func (sc *Projection) totals() []total {
	if sc.poolTotals == nil {
		sc.poolTotals = make([]total, len(sc.snap.Pools))
		for i := range sc.survey.s.Nodes {
			if n := &sc.survey.s.Nodes[i]; n.Pool >= 0 && n.State == model.Initialized {
				sc.poolTotals[n.Pool].price += sc.prices[i].effective
				sc.poolTotals[n.Pool].disruption += 1 + sc.survey.Cost(int32(i))
			}
		}
	}
	return sc.poolTotals
}
