package disrupt

import "spokeshave.dev/controller/core/model"

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
	// Cost is the disruption cost of the nodes, see Survey.Cost, and MoveCost what the moves of
	// their pods have to save in USD/hour, see Survey.MoveCost.
	Cost, MoveCost float64
	// Repair is what is launched for pods that find no node when the scheduler places them, in
	// the mean over several orders and beyond what is launched without the proposal, in
	// USD/hour.
	Repair float64
	// Instead is another proposal for the same nodes that saves less; nil for none.
	// It is used when the plan of a widened proposal (Simulation.Widened) violates a
	// constraint.
	Instead *Proposal

	// unplaced are the pods without a node by order; nil when the orders were not tried.
	unplaced [][]int32
}

// Saves returns the saving in effective cost, in USD/hour.
func (p *Proposal) Saves() float64 { return p.Removed - p.Added }

// Gain returns what is expected to be saved beyond what the moves cost, in USD/hour.
func (p *Proposal) Gain() float64 { return p.Saves() - p.MoveCost - p.Repair }

// Score returns the gain per unit of disruption cost.
func (p *Proposal) Score() float64 { return p.Gain() / (1 + p.Cost) }

// Replace proposes to remove the nodes whether or not that saves money; nil when
// their pods do not all find a place.
func (sc *Projection) Replace(m Method, nodes []int32) *Proposal {
	p := sc.propose(m, nodes, sc.Without(m, nodes))
	if len(p.Sim.Plan.Unplaced) > 0 {
		return nil
	}
	return p
}

// Fits proposes to remove the nodes without launching any; nil when their pods do
// not all fit on the other nodes. replacements are those of the other nodes that were launched
// for the pods. With them, pods may be left over if what is launched for those costs less than
// is saved, in USD/hour.
func (sc *Projection) Fits(m Method, nodes, replacements []int32, saves float64) *Proposal {
	sim := sc.fits(nodes, replacements, saves)
	if len(sim.Plan.Unplaced) > 0 {
		return nil
	}
	return sc.propose(m, nodes, sim)
}

// fits packs the pods anew. If that leaves pods over, it tries to place them as the plan did that the
// replacements were launched by, and then as the scheduler may place them: see placedInOrders.
func (sc *Projection) fits(nodes, replacements []int32, saves float64) *Simulation {
	sim := sc.Within(nodes)
	if len(sim.Plan.Unplaced) == 0 || len(replacements) == 0 {
		return sim
	}
	if sim = sc.onReplacements(nodes, replacements); len(sim.Plan.Unplaced) == 0 {
		return sim
	}
	if plan := (&consolidator{sc}).placedInOrders(sc.inputWithout(nodes), saves); plan != nil {
		sim.Plan = *plan
	}
	return sim
}

func (sc *Projection) propose(m Method, nodes []int32, sim *Simulation) *Proposal {
	p := &Proposal{Method: m, Nodes: nodes, Sim: sim}
	for _, i := range nodes {
		p.Removed += sc.prices[i].effective
		p.Savings += sc.prices[i].billed
		p.Cost += sc.survey.Cost(i)
		p.MoveCost += sc.survey.MoveCost(i)
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
// cost by more than the moves of their pods cost, for every remaining option of the replacements, as
// expected wherever the scheduler places the pods; nil otherwise. It tries several variants
// and takes the one with the largest gain.
//
// Costs are those of a cluster without the nodes: what they would cost if they were launched
// again is compared with what would be launched in their place.
func (sc *Projection) Consolidate(nodes []int32) *Proposal {
	restore, unknown := recost(sc, nodes)
	defer restore()
	if unknown != "" {
		sc.record(nodes, Blocked, unknown)
		return nil
	}
	p := sc.Replace(Underutilized, nodes)
	if p == nil {
		sc.record(nodes, NoSaving, noPlace)
		return nil
	}
	best, why := (&consolidator{sc}).best(p)
	if best == nil {
		sc.record(nodes, why.Kind, why.Reason)
	}
	return best
}
