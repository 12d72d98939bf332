package disrupt

import (
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// Projection is the cluster as it will be once everything under way is done. An accepted
// proposal becomes part of it, so that no capacity is assigned twice.
//
// Size: what is known of the cluster, and what is kept of it between simulations.
type Projection struct {
	// In carries costs, headroom, blocks and denials. Its snapshot is replaced by
	// the projection's own for each simulation. Its plans are candidates, as a search
	// makes many of them.
	In solver.Input
	// Solves counts the simulations.
	Solves int
	// Trusting assumes that the scheduler places pods as planned, which skips the
	// orders of unplacedByOrder.
	Trusting bool
	// Recost returns what offerings cost, by pool, in a cluster of these nodes without those
	// that gone marks, as the rank policies would answer; nil when their answers do not
	// depend on what runs. Equal clusters have the same slice. unknown says, by pool, why it is
	// not known what offerings cost there, "" where it is; nil means that all is known.
	Recost func(nodes []model.Node, gone []bool) (costs []solver.Costs, unknown []string)

	survey  *Survey
	snap    model.Snapshot
	types   typeIndex
	prices  []prices // by node
	removed []bool
	// received marks the nodes that accepted proposals move pods to.
	received []bool
	// movingPods are the pods that accepted proposals move and those that wait for
	// the scheduler. comingNodes are the nodes being launched that they may use.
	movingPods, comingNodes []int32
	specs                   *specIndex
	poolTotals              []total
	// redrawn is how many times other orders of the pods were drawn.
	redrawn uint64
	// repair is what repairNow returns; nil when it is not known.
	repair *float64
	// findings is by node the search's reason for keeping it.
	findings map[int32]Finding
}

// noMoveTaint keeps moved pods off a node. Only pods that tolerate every taint may
// still move to it.
const noMoveTaint = "karpenter.sh/disrupted"

// NewProjection returns the projection of the surveyed snapshot. placed are pending pods that
// the plan assigns to existing nodes.
func NewProjection(v *Survey, in *solver.Input, placed []model.Assignment) *Projection {
	sc := &Projection{In: *in, survey: v, snap: *v.s}
	sc.snap.Nodes = slices.Clone(v.s.Nodes)
	sc.snap.Pods = slices.Clone(v.s.Pods)
	sc.snap.Pools = slices.Clone(v.s.Pools)
	sc.In.Candidate = true
	sc.removed, sc.received = make([]bool, len(v.s.Nodes)), make([]bool, len(v.s.Nodes))
	sc.types = newTypeIndex(v.s)
	sc.prices = make([]prices, len(v.s.Nodes))
	for i := range v.s.Nodes {
		sc.prices[i] = sc.types.prices(&v.s.Nodes[i], in.Costs)
		if n := &sc.snap.Nodes[i]; n.State == model.InFlight || n.State == model.Registered {
			addNoMoveTaint(n)
		}
	}
	for _, a := range placed {
		for _, p := range a.Pods {
			sc.snap.Pods[p].Node = a.Node
		}
		if takes(&sc.snap.Nodes[a.Node]) {
			sc.movingPods = append(sc.movingPods, a.Pods...)
		}
	}
	return sc
}

// specIndex returns the index of the pod specs, which does not change with the
// projection.
func (sc *Projection) specIndex() *specIndex {
	if sc.specs == nil {
		sc.specs = newSpecIndex(&sc.snap)
	}
	return sc.specs
}

// capacity returns an index of the projection's free capacity.
func (sc *Projection) capacity() *capacityIndex {
	return newCapacityIndex(sc.specIndex(), &sc.snap, make([]bool, len(sc.snap.Pods)))
}

// Host allows pods to move to a node that is still being launched, as for the
// replacements of a command.
func (sc *Projection) Host(node int32) {
	sc.snap.Nodes[node].Taints = sc.survey.s.Nodes[node].Taints
	sc.comingNodes = append(sc.comingNodes, node)
}

func addNoMoveTaint(n *model.Node) {
	n.Taints = append(slices.Clone(n.Taints), model.Taint{Key: noMoveTaint, Effect: model.NoPlacement})
}

// Simulation is a solver question about the pods of some nodes, and its answer.
type Simulation struct {
	// Input is the question. Its Pods are the pods that move.
	Input solver.Input
	Plan  model.Plan
	// Waived is how many pods gave preferences up.
	Waived int
	// Widened is set when nodes were added to the solver's plan.
	Widened bool
}

// Without solves the projection without the given nodes. Their pods may go to other nodes
// and to new ones.
func (sc *Projection) Without(m Method, nodes []int32) *Simulation {
	in := sc.inputWithout(nodes)
	if m == Underutilized {
		sc.survey.avoidSettling(in)
	}
	in.Snapshot.Pools = sc.types.poolsWithout(sc.snap.Pools, sc.snap.Nodes, nodes)
	in.Headroom = headroomWithout(sc.In.Headroom, &sc.snap, nodes)
	return sc.solve(in)
}

// Within is Without with no launches: the pods must fit on the other nodes.
func (sc *Projection) Within(nodes []int32) *Simulation {
	return sc.solve(withoutLaunches(sc.inputWithout(nodes)))
}

// withoutLaunches blocks every pool in the input and returns it.
func withoutLaunches(in *solver.Input) *solver.Input {
	in.Blocked = make([]*model.Reason, len(in.Snapshot.Pools))
	for i := range in.Blocked {
		in.Blocked[i] = &model.Reason{Code: model.PoolNotReady, Message: "nothing is to be launched"}
	}
	in.Effort = 0
	return in
}

// Onto plans where the pods of nodes with replacements go: to the replacements
// first, and the rest to any other node.
func (sc *Projection) Onto(nodes, replacements []int32) *model.Plan {
	if len(replacements) == 0 {
		return &sc.Within(nodes).Plan
	}
	in := withoutLaunches(sc.inputWithout(nodes))
	for i := range in.Snapshot.Nodes {
		if !slices.Contains(replacements, int32(i)) {
			addNoMoveTaint(&in.Snapshot.Nodes[i])
		}
	}
	return &sc.withRest(nodes, sc.solve(in)).Plan
}

// onReplacements plans where the pods of nodes go as a plan with new nodes did: to other nodes
// first, and the rest to the replacements.
func (sc *Projection) onReplacements(nodes, replacements []int32) *Simulation {
	in := withoutLaunches(sc.inputWithout(nodes))
	for _, i := range replacements {
		addNoMoveTaint(&in.Snapshot.Nodes[i])
	}
	return sc.withRest(nodes, sc.solve(in))
}

// withRest returns the simulation with a place on any node for the pods that have none in it.
func (sc *Projection) withRest(nodes []int32, first *Simulation) *Simulation {
	if len(first.Plan.Unplaced) == 0 {
		return first
	}
	in := withoutLaunches(sc.inputWithout(nodes))
	in.Snapshot, in.Pods = sc.types.Snapshot(in.Snapshot, &first.Plan), nil
	for _, u := range first.Plan.Unplaced {
		in.Pods = append(in.Pods, u.Pod)
	}
	second := sc.solve(in)
	second.Plan.Existing = append(second.Plan.Existing, first.Plan.Existing...)
	return second
}

func (sc *Projection) solve(in *solver.Input) *Simulation {
	sc.Solves++
	plan, stats := solver.Solve(*in)
	return &Simulation{Input: *in, Plan: plan, Waived: stats.Waived}
}

// inputWithout returns the solver input in which the nodes are being deleted and
// their pods need a place.
func (sc *Projection) inputWithout(nodes []int32) *solver.Input {
	snap := sc.snap
	snap.Nodes = slices.Clone(sc.snap.Nodes)
	in := sc.In
	in.Snapshot, in.Pods = &snap, nil
	for _, i := range nodes {
		snap.Nodes[i].State = model.Deleting
		in.Pods = append(in.Pods, sc.survey.moving[i]...)
	}
	slices.Sort(in.Pods)
	return &in
}

// Accept makes a proposal part of the projection: its nodes are removed, and their pods
// are where its plan places them.
func (sc *Projection) Accept(nodes []int32, plan *model.Plan) {
	sc.repair = nil
	sc.In.Headroom = headroomAccepted(sc.In.Headroom, &sc.snap, nodes, plan)
	for _, i := range nodes {
		sc.snap.Nodes[i].State = model.Deleting
		sc.removed[i] = true
		sc.movingPods = append(sc.movingPods, sc.survey.moving[i]...)
	}
	sc.snap.Pools = sc.types.poolsWithout(sc.snap.Pools, sc.snap.Nodes, nodes)
	for _, a := range plan.Existing {
		if int(a.Node) < len(sc.received) {
			sc.received[a.Node] = true
		}
		for _, p := range a.Pods {
			sc.snap.Pods[p].Node = a.Node
		}
	}
	for i := range plan.Nodes {
		at := int32(len(sc.snap.Nodes))
		n := sc.types.Node(&plan.Nodes[i], int(at))
		addNoMoveTaint(&n)
		sc.snap.Nodes = append(sc.snap.Nodes, n)
		sc.comingNodes = append(sc.comingNodes, at)
		sc.types.AddUsage(sc.snap.Pools, &n)
		for _, p := range plan.Nodes[i].Pods {
			sc.snap.Pods[p].Node = at
		}
	}
}

// Settled reports whether no accepted proposal concerns the node: it is neither
// removed nor receives pods of removed nodes.
func (sc *Projection) Settled(node int32) bool { return !sc.removed[node] && !sc.received[node] }
