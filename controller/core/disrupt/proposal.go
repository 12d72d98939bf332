package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Proposal is a disruption that is possible as far as the solver can tell.
type Proposal struct {
	Method Method
	// Nodes index Snapshot.Nodes. They are removed together.
	Nodes []int32
	// Sim is the plan for their pods. Its new nodes are the replacements.
	Sim *Simulation
	// Removed and Added are effective costs in USD/hour. Savings is the difference
	// of the billed prices.
	Removed, Added float64
	Savings        model.Price
	// Cost is the disruption cost of the nodes, see Survey.Cost.
	Cost float64
	// Instead is another proposal for the same nodes that saves less; nil for none.
	// It is used when the plan of a widened proposal (Simulation.Widened) violates a
	// constraint.
	Instead *Proposal
}

// Saves returns the saving in effective cost, in USD/hour.
func (p *Proposal) Saves() float64 { return p.Removed - p.Added }

// Score returns the saving per unit of disruption cost.
func (p *Proposal) Score() float64 { return p.Saves() / (1 + p.Cost) }

// Replace proposes to remove the nodes whether or not that saves money; nil when
// their pods do not all find a place.
func (sc *Scene) Replace(m Method, nodes []int32) *Proposal {
	p := sc.propose(m, nodes, sc.Without(nodes))
	if len(p.Sim.Plan.Unplaced) > 0 {
		return nil
	}
	return p
}

// Fits proposes to remove the nodes without launching any; nil when their pods do
// not all fit on the other nodes.
func (sc *Scene) Fits(m Method, nodes []int32) *Proposal {
	p := sc.propose(m, nodes, sc.Within(nodes))
	if len(p.Sim.Plan.Unplaced) > 0 {
		return nil
	}
	return p
}

func (sc *Scene) propose(m Method, nodes []int32, sim *Simulation) *Proposal {
	p := &Proposal{Method: m, Nodes: nodes, Sim: sim}
	for _, i := range nodes {
		p.Removed += sc.prices[i].effective
		p.Savings += sc.prices[i].billed
		p.Cost += sc.survey.Cost(i)
	}
	for i := range sim.Plan.Nodes {
		best := &sim.Plan.Nodes[i].Options[0]
		extra := sc.snap.NodeCost(sim.Plan.Nodes[i].Pool)
		p.Added += best.Effective + extra.USD()
		p.Savings -= best.Price + extra
	}
	return p
}

// roundingShare is the saving, as a share of the removed cost, that counts as a
// rounding error.
const roundingShare = 1e-6

// Consolidate proposes to remove the nodes if that lowers the cluster's effective
// cost for every remaining option of the replacements and wherever the scheduler
// places the pods; nil otherwise. It tries two placements of the pods and takes the
// cheaper one.
func (sc *Scene) Consolidate(nodes []int32) *Proposal {
	p := sc.Replace(Underutilized, nodes)
	if p == nil {
		sc.record(nodes, Pointless, noPlace)
		return nil
	}
	q := sc.balancedFill(p) // computed first, since validated may change p's question
	best, why := sc.validated(p)
	if q != nil {
		if q, _ = sc.validated(q); q != nil && (best == nil || q.Saves() > best.Saves()) {
			best, q = q, best
		}
		sc.addFallback(best, q)
	}
	if best == nil {
		sc.record(nodes, Pointless, why)
	}
	return best
}

// validated returns the consolidation as it may be proposed, or nil and the reason
// against it. A plan that works only with a tight packing is given more nodes, or
// one large node in place of several, as long as it still saves.
func (sc *Scene) validated(p *Proposal) (sound *Proposal, why string) {
	if !saves(p) {
		return nil, nothingCheaper
	}
	if left := sc.unplacedInSomeOrder(p); len(left) > 0 {
		wide, one := sc.withRoomForAnyOrder(p, left), sc.withLargeNodesOnly(p)
		if p = wide; p == nil || one != nil && one.Saves() > p.Saves() {
			p, one = one, wide
		}
		if why := sc.rejection(p); why != "" {
			return nil, why
		}
		if p.Sim.Widened && one != nil && sc.rejection(one) == "" {
			sc.addFallback(p, one)
		}
		return p, ""
	}
	if why := sc.rejection(p); why != "" {
		return nil, why
	}
	return p, ""
}

// addFallback appends other to the alternatives of p when p was widened. Either may
// be nil. An alternative whose saving is too small under consolidationPolicy
// Balanced is dropped.
func (sc *Scene) addFallback(p, other *Proposal) {
	if p == nil || other == nil || !sc.balanced(other.Nodes, other.Saves(), other.Cost) {
		return
	}
	for p.Sim.Widened && p.Instead != nil {
		p = p.Instead
	}
	if p.Sim.Widened {
		p.Instead = other
	}
}

// rejection returns why the consolidation may not be proposed, "" when it may. It
// drops options of the replacements that would cost too much.
func (sc *Scene) rejection(p *Proposal) string {
	replaces := p != nil && len(p.Sim.Plan.Nodes) > 0
	switch {
	case !saves(p):
		return uncertain
	case replaces && !sc.dropDearOptions(p):
		return nothingCheaper
	case replaces && !sc.meetsSpotRules(p):
		if !sc.snap.Settings.SpotToSpot {
			return spotOff
		}
		return spotFew
	case replaces && !sc.keepsMinValues(p):
		return minValuesLost
	case !sc.worksInAnyOrder(p):
		return uncertain
	}
	return ""
}

func saves(p *Proposal) bool { return p != nil && p.Saves() > p.Removed*roundingShare }

// dropDearOptions drops the options that would use up the saving: each replacement
// may cost more than its best option by an equal share of the saving. It returns
// false when a replacement has no option left.
func (sc *Scene) dropDearOptions(p *Proposal) bool {
	slack := p.Saves() / float64(len(p.Sim.Plan.Nodes))
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
func (sc *Scene) meetsSpotRules(p *Proposal) bool {
	for _, i := range p.Nodes {
		if sc.snap.Nodes[i].CapacityType != model.Spot {
			return true
		}
	}
	spot := slices.ContainsFunc(p.Sim.Plan.Nodes, func(n model.PlannedNode) bool { return n.Options[0].CapacityType == model.Spot })
	switch {
	case !spot:
		return true
	case !sc.snap.Settings.SpotToSpot:
		return false
	case len(p.Nodes) > 1 || len(p.Sim.Plan.Nodes) > 1:
		return true
	}
	return sc.hasEnoughSpotTypes(p)
}

// hasEnoughSpotTypes solves again with a tolerance that admits every option cheaper
// than the node. It keeps the options of the cheapest spotTypes types, so that the
// next search finds no cheaper replacement.
func (sc *Scene) hasEnoughSpotTypes(p *Proposal) bool {
	wide := *sc
	extra := sc.snap.NodeCost(p.Sim.Plan.Nodes[0].Pool).USD()
	wide.In.Tolerance, wide.In.MaxOptions = (p.Removed-extra)/max(p.Added-extra, 1e-9), 400
	sim := wide.Without(p.Nodes)
	sc.Solves = wide.Solves
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
	*p = *sc.propose(p.Method, p.Nodes, sim)
	return true
}

// keepsMinValues reports whether the replacements still satisfy their pools'
// minValues after options were dropped.
func (sc *Scene) keepsMinValues(p *Proposal) bool {
	for i := range p.Sim.Plan.Nodes {
		n := &p.Sim.Plan.Nodes[i]
		for r := range sc.snap.Pools[n.Pool].Requirements {
			req := &sc.snap.Pools[n.Pool].Requirements[r]
			if req.MinValues > 0 && !sc.snap.Settings.RelaxMinValues && sc.values(n, req.Key) < req.MinValues {
				return false
			}
		}
	}
	return true
}

func (sc *Scene) values(n *model.PlannedNode, key string) int {
	seen := map[string]bool{}
	for _, o := range n.Options {
		switch key {
		case "topology.kubernetes.io/zone":
			seen[o.Zone] = true
		case "karpenter.sh/capacity-type":
			seen[string(o.CapacityType)] = true
		default:
			if t := sc.typeOf(n.Pool, o.InstanceType); t != nil {
				seen[t.Labels[key]] = true
			}
		}
	}
	return len(seen)
}
