package random

import "spokeshave.dev/controller/core/model"

// Policies are answers of policies to a question.
type Policies struct {
	// Costs are by pool, nil where the billed price counts.
	Costs    []Costs
	Headroom []model.Headroom
	Denied   []model.Denied
}

// Costs are by instance type and offering of a pool's catalogue.
type Costs [][]Cost

// Cost is what an offering costs in the eyes of rank policies: by its tiers, or as
// billed where it has none.
type Cost struct {
	Tiers []Tier
	// Excluded drops the offering; Policy and Reason say who and why.
	Excluded       bool
	Policy, Reason string
}

// Tier is a cost in USD per hour for up to Until nodes, 0 for any number.
type Tier struct {
	Until uint32
	Cost  float64
}

// Policies are costs with tiers, headroom of the cluster and of one pool, and
// denials for the snapshot's pools, each only now and then.
func (g *Generator) Policies() Policies {
	var out Policies
	if g.Chance(0.5) {
		out.Costs = make([]Costs, len(g.Snapshot.Pools))
		for p := range g.Snapshot.Pools {
			out.Costs[p] = g.Costs(&g.Snapshot.Catalogs[g.Snapshot.Pools[p].Catalog])
		}
	}
	if g.Chance(0.5) {
		out.Headroom = append(out.Headroom, model.Headroom{Scope: "cluster", Left: model.PriceOf(g.Float64() * 4), Policy: "budget"})
	}
	if g.Chance(0.3) {
		marked := make([]bool, len(g.Snapshot.Pools))
		marked[g.IntN(len(marked))] = true
		out.Headroom = append(out.Headroom, model.Headroom{Scope: "nodepool/x", Pools: marked, Left: model.PriceOf(g.Float64() - 0.1), Policy: "team"})
	}
	if g.Chance(0.3) {
		out.Denied = append(out.Denied, model.Denied{Pool: 0, CapacityType: model.Spot, Policy: "review", Reason: "no spot"})
	}
	return out
}

// Costs are costs for a catalogue: one offering in twenty is excluded, four in ten have tiers.
func (g *Generator) Costs(c *model.Catalog) Costs {
	out := make(Costs, len(c.Types))
	for t := range out {
		out[t] = make([]Cost, len(c.Types[t].Offerings))
		for o := range out[t] {
			price := c.Types[t].Offerings[o].Price.USD()
			switch {
			case g.Chance(0.05):
				out[t][o] = Cost{Excluded: true, Policy: "rank", Reason: "not this one"}
			case g.Chance(0.1):
				out[t][o].Tiers = []Tier{{Until: uint32(1 + g.IntN(2)), Cost: price * 0.3}, {Cost: price}}
			case g.Chance(0.3):
				out[t][o].Tiers = []Tier{{Cost: price * (0.5 + g.Float64())}}
			}
		}
	}
	return out
}
