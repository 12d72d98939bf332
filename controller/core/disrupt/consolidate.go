package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// consolidator proposes consolidations of nodes in a projection.
//
// Size: it has no state but the projection; its methods are the variants of a proposal, what
// forbids one, and what comes of it when the scheduler places the pods.
type consolidator struct{ projection *Projection }

// tooLittle returns why a proposal that does not pay is not made.
func (c *consolidator) tooLittle(p *Proposal) Finding {
	if p.Saves() <= p.Removed*roundingShare {
		return Finding{NoSaving, nothingCheaper}
	}
	return Finding{SavingTooSmall, c.projection.survey.notWorthMoving("", p.Saves(), p.Nodes)}
}

// addFallback appends other to the alternatives of p when p was widened. Either may
// be nil. An alternative whose saving is too small under consolidationPolicy
// Balanced is dropped.
func (c *consolidator) addFallback(p, other *Proposal) {
	if p == nil || other == nil || !c.projection.balanced(other.Nodes, other.Saves()) {
		return
	}
	for p.Sim.Widened && p.Instead != nil {
		p = p.Instead
	}
	if p.Sim.Widened {
		p.Instead = other
	}
}

// rejection returns why the consolidation may not be proposed, nothing when it may. It
// drops options of the replacements that would cost too much, and sets the repair.
func (c *consolidator) rejection(p *Proposal) Finding {
	replaces := len(p.Sim.Plan.Nodes) > 0
	switch {
	case !pays(p):
		return c.tooLittle(p)
	case replaces && !c.dropDearOptions(p):
		return Finding{NoSaving, nothingCheaper}
	case replaces && !c.meetsSpotRules(p):
		if !c.projection.snap.Settings.SpotToSpot {
			return Finding{NoSaving, spotOff}
		}
		return Finding{NoSaving, spotFew}
	case replaces && !c.keepsMinValues(p):
		return Finding{NoSaving, minValuesLost}
	case !c.worksOut(p), replaces && !c.fitsOnceReady(p):
		return Finding{NoSaving, ReasonUncertain}
	}
	return Finding{}
}

// pays reports whether the proposal saves more than its moves and its repair cost.
func pays(p *Proposal) bool { return p != nil && p.Gain() > p.Removed*roundingShare }

// dropDearOptions drops the options that would use up the saving: each replacement
// may cost more than its best option by an equal share of the gain. It returns
// false when a replacement has no option left.
func (c *consolidator) dropDearOptions(p *Proposal) bool {
	slack := p.Gain() / float64(len(p.Sim.Plan.Nodes))
	for i := range p.Sim.Plan.Nodes {
		n := &p.Sim.Plan.Nodes[i]
		limit := n.Options[0].Effective + slack
		n.Options = slices.DeleteFunc(slices.Clone(n.Options), func(o model.Option) bool { return o.Effective >= limit })
		if len(n.Options) == 0 {
			return false
		}
	}
	return true
}

// spotTypes is how many cheaper instance types a spot replacement of a spot node
// must have to choose from. With fewer, always moving to the cheapest one leads to
// the capacity pool that is interrupted next.
const spotTypes = 15

// meetsSpotRules reports whether the proposal may replace what it replaces. A
// replacement of spot nodes by spot nodes needs the setting SpotToSpot, and for a
// single node also spotTypes cheaper types.
func (c *consolidator) meetsSpotRules(p *Proposal) bool {
	for _, i := range p.Nodes {
		if c.projection.snap.Nodes[i].CapacityType != model.Spot {
			return true
		}
	}
	spot := slices.ContainsFunc(p.Sim.Plan.Nodes, func(n model.PlannedNode) bool { return n.Options[0].CapacityType == model.Spot })
	switch {
	case !spot:
		return true
	case !c.projection.snap.Settings.SpotToSpot:
		return false
	case len(p.Nodes) > 1 || len(p.Sim.Plan.Nodes) > 1:
		return true
	}
	return c.hasEnoughSpotTypes(p)
}

// hasEnoughSpotTypes solves again with a tolerance that admits every option cheaper
// than the node. It keeps the options of the cheapest spotTypes types, so that the
// next search finds no cheaper replacement.
func (c *consolidator) hasEnoughSpotTypes(p *Proposal) bool {
	wide := *c.projection
	extra := c.projection.snap.NodeCost(p.Sim.Plan.Nodes[0].Pool).USD()
	wide.In.Tolerance, wide.In.MaxOptions = (p.Removed-extra)/max(p.Added-extra, 1e-9), 400
	sim := wide.Without(p.Method, p.Nodes)
	c.projection.Solves = wide.Solves
	if len(sim.Plan.Unplaced) > 0 || len(sim.Plan.Nodes) != 1 {
		return false
	}
	n := &sim.Plan.Nodes[0]
	types := map[string]bool{}
	var kept []model.Option
	for _, o := range n.Options {
		if o.CapacityType != model.Spot || o.Effective+extra >= p.Removed || !types[o.InstanceType] && len(types) == spotTypes {
			continue
		}
		types[o.InstanceType] = true
		kept = append(kept, o)
	}
	if len(types) < spotTypes {
		return false
	}
	n.Options = kept
	*p = *c.projection.propose(p.Method, p.Nodes, sim)
	return true
}

// keepsMinValues reports whether the replacements still satisfy their pools'
// minValues after options were dropped.
func (c *consolidator) keepsMinValues(p *Proposal) bool {
	for i := range p.Sim.Plan.Nodes {
		n := &p.Sim.Plan.Nodes[i]
		for r := range c.projection.snap.Pools[n.Pool].Requirements {
			req := &c.projection.snap.Pools[n.Pool].Requirements[r]
			if req.MinValues > 0 && !c.projection.snap.Settings.RelaxMinValues && c.values(n, req.Key) < req.MinValues {
				return false
			}
		}
	}
	return true
}

func (c *consolidator) values(n *model.PlannedNode, key string) int {
	seen := map[string]bool{}
	for _, o := range n.Options {
		switch key {
		case "topology.kubernetes.io/zone":
			seen[o.Zone] = true
		case "karpenter.sh/capacity-type":
			seen[string(o.CapacityType)] = true
		default:
			if t := c.projection.types.Type(n.Pool, o.InstanceType); t != nil {
				seen[t.Labels[key]] = true
			}
		}
	}
	return len(seen)
}
