package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Proposal is a disruption that could be carried out.
type Proposal struct {
	Method Method
	// Nodes index Snapshot.Nodes: those that go together.
	Nodes []int32
	// Sim says where their pods go. Its plan's nodes are the replacements.
	Sim *Simulation
	// Removed and Added are effective costs in USD/hour, Savings the billed
	// difference.
	Removed, Added float64
	Savings        model.Price
	// Cost is what the disruption costs, see Survey.Cost.
	Cost float64
	// Instead is what else could be done about the same nodes, for less: when the
	// answer that nodes were added to (Simulation.Widened) proves wrong, this may
	// hold. nil for nothing.
	Instead *Proposal
}

// Saves is what the proposal saves per hour, by effective cost.
func (p *Proposal) Saves() float64 { return p.Removed - p.Added }

// Score is the saving per disruption.
func (p *Proposal) Score() float64 { return p.Saves() / (1 + p.Cost) }

// Replace proposes that the nodes go whatever that costs; nil when their pods
// would not all find a place.
func (sc *Scene) Replace(m Method, nodes []int32) *Proposal {
	p := sc.propose(m, nodes, sc.Without(nodes))
	if len(p.Sim.Plan.Unplaced) > 0 {
		return nil
	}
	return p
}

// Fits says whether the nodes' pods find room on the others.
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

// roundingShare is the saving, as a share of what is removed, that rounding could
// make up.
const roundingShare = 1e-6

// Consolidate proposes that the nodes go if that makes the cluster cheaper by
// effective cost, whichever option of the replacements comes true and wherever
// the scheduler puts the pods; nil otherwise. The pods are placed in two ways,
// and the cheaper counts.
func (sc *Scene) Consolidate(nodes []int32) *Proposal {
	p := sc.Replace(Underutilized, nodes)
	if p == nil {
		sc.record(nodes, Pointless, noPlace)
		return nil
	}
	q := sc.balancedFill(p) // of the question as it was asked: what is sound may have asked another
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

// validated is a consolidation as it can be proposed; nil, with what speaks against
// it, for one that cannot. A plan that packs too tightly for a scheduler that does
// not know it is made roomier, as long as that pays: by more nodes, or by one in
// the stead of several.
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

// addFallback notes what can be done when an answer that nodes were added to proves
// wrong, after what was noted before; either may be nil. What saves less may not be
// worth it any more.
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

// rejection says what speaks against a consolidation that would pay as planned,
// empty for nothing. It drops options of its replacements.
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

// dropDearOptions drops the options that would eat up the saving: each replacement may
// cost its share of it more than its best option.
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

// spotTypes is how many cheaper instance types a spot node's spot replacement
// must be able to choose from: with fewer, chasing the lowest price ends in
// the pool that is interrupted next.
const spotTypes = 15

// meetsSpotRules holds for every proposal but those that replace spot nodes by spot
// nodes: these need the setting, and for a single node enough choice.
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

// hasEnoughSpotTypes looks for options well beyond the usual tolerance, and keeps the
// cheapest of so many types that the next look finds nothing better.
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

// keepsMinValues makes sure that dropping options did not break a pool's
// minValues.
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
