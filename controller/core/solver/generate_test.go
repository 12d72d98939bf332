package solver

import (
	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/test/kit/random"
)

const gib = 1 << 30

// generator makes random inputs that exercise everything the solver knows.
type generator struct{ *random.Generator }

func newGenerator(seed uint64) *generator { return &generator{random.New(seed)} }

// input is a random cluster, and asks for all its pending pods.
func (g *generator) input(pods int) Input {
	q := g.Question(pods)
	return Input{Snapshot: q.Snapshot, Pods: q.Pods, Effort: q.Effort, Tolerance: q.Tolerance}
}

// policies adds what policies would: costs, tiers, headroom, denials.
func (g *generator) policies(in *Input) {
	p := g.Policies()
	for _, c := range p.Costs {
		in.Costs = append(in.Costs, lowered(c))
	}
	in.Headroom = append(in.Headroom, p.Headroom...)
	in.Denied = append(in.Denied, p.Denied...)
}

// costs are random costs for a catalogue.
func (g *generator) costs(c *model.Catalog) supply.Costs { return lowered(g.Costs(c)) }

func lowered(costs random.Costs) supply.Costs {
	out := make(supply.Costs, len(costs))
	for t := range costs {
		out[t] = make([]supply.Effective, len(costs[t]))
		for o, c := range costs[t] {
			out[t][o] = supply.Effective{Excluded: c.Excluded, Policy: c.Policy, Reason: c.Reason}
			for _, x := range c.Tiers {
				out[t][o].Tiers = append(out[t][o].Tiers, supply.Tier{Until: x.Until, Cost: x.Cost})
			}
		}
	}
	return out
}

// constraints are the input's, as the checker wants them.
func constraints(in *Input) check.Constraints {
	c := check.Constraints{Pods: in.Pods}
	for _, h := range in.Headroom {
		c.Headroom = append(c.Headroom, model.Headroom{Scope: h.Scope, Pools: h.Pools, Left: h.Left})
	}
	for _, d := range in.Denied {
		c.Denied = append(c.Denied, model.Denied{Pool: d.Pool, InstanceType: d.InstanceType, Zone: d.Zone, CapacityType: d.CapacityType})
	}
	return c
}
