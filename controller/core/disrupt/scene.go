package disrupt

import (
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// Scene is the cluster as it will be once everything that is under way is
// done. What is accepted becomes part of it, so that one room is not given
// away twice.
type Scene struct {
	// In carries costs, headroom, blocks and denials; its snapshot is the
	// scene's own.
	In solver.Input
	// Solves counts the simulations.
	Solves int
	// Trusting takes the scheduler to put pods where the plan says.
	Trusting bool

	survey  *Survey
	snap    model.Snapshot
	types   []map[string]*model.InstanceType // by catalogue
	prices  []prices                         // by node
	removed []bool
	// received marks the nodes that accepted proposals move pods to.
	received []bool
	// movingPods are the pods that are to move by what was accepted, and those that
	// wait for the scheduler; comingNodes the nodes on their way that they may move to.
	movingPods, comingNodes []int32
	specs                   *specIndex
	poolTotals              []total
	// findings is by node what the search made of it.
	findings map[int32]Finding
}

// prices are what a node costs, volumes and address included: billed, and in
// the eyes of the rank policies.
type prices struct {
	billed    model.Price
	effective float64
}

// noMoveTaint keeps pods off a node that is no place to move to. Only pods that
// tolerate everything pass it.
const noMoveTaint = "karpenter.sh/disrupted"

// NewScene starts from the snapshot; placed are pending pods with their nodes.
func NewScene(v *Survey, in *solver.Input, placed []model.Assignment) *Scene {
	sc := &Scene{In: *in, survey: v, snap: *v.s}
	sc.snap.Nodes = slices.Clone(v.s.Nodes)
	sc.snap.Pods = slices.Clone(v.s.Pods)
	sc.snap.Pools = slices.Clone(v.s.Pools)
	sc.removed, sc.received = make([]bool, len(v.s.Nodes)), make([]bool, len(v.s.Nodes))
	for _, c := range v.s.Catalogs {
		types := make(map[string]*model.InstanceType, len(c.Types))
		for i := range c.Types {
			types[c.Types[i].Name] = &c.Types[i]
		}
		sc.types = append(sc.types, types)
	}
	sc.prices = make([]prices, len(v.s.Nodes))
	for i := range v.s.Nodes {
		sc.prices[i] = sc.price(&v.s.Nodes[i])
		if n := &sc.snap.Nodes[i]; n.State == model.InFlight || n.State == model.Registered {
			sc.addNoMoveTaint(n)
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

// specIndex is what does not change however the scene does.
func (sc *Scene) specIndex() *specIndex {
	if sc.specs == nil {
		sc.specs = newSpecIndex(&sc.snap)
	}
	return sc.specs
}

// capacity is the free capacity of the scene as it is.
func (sc *Scene) capacity() *capacityIndex {
	return newCapacityIndex(sc.specIndex(), &sc.snap, make([]bool, len(sc.snap.Pods)))
}

// Host lets pods move to a node that is still coming: it was launched for
// them.
func (sc *Scene) Host(node int32) {
	sc.snap.Nodes[node].Taints = sc.survey.s.Nodes[node].Taints
	sc.comingNodes = append(sc.comingNodes, node)
}

func (sc *Scene) addNoMoveTaint(n *model.Node) {
	n.Taints = append(slices.Clone(n.Taints), model.Taint{Key: noMoveTaint, Effect: model.NoSchedule})
}

func (sc *Scene) typeOf(pool int32, name string) *model.InstanceType {
	if pool < 0 || sc.snap.Pools[pool].Catalog < 0 {
		return nil
	}
	return sc.types[sc.snap.Pools[pool].Catalog][name]
}

// price looks up what the rank policies make of a node's offering. One that
// they exclude, or that is not sold any more, counts as billed.
func (sc *Scene) price(n *model.Node) prices {
	out := prices{n.Cost(), n.Cost().USD()}
	t := sc.typeOf(n.Pool, n.InstanceType)
	if t == nil || int(n.Pool) >= len(sc.In.Costs) || sc.In.Costs[n.Pool] == nil {
		return out
	}
	catalog := &sc.snap.Catalogs[sc.snap.Pools[n.Pool].Catalog]
	at := slices.IndexFunc(catalog.Types, func(x model.InstanceType) bool { return x.Name == t.Name })
	for o := range t.Offerings {
		of := &t.Offerings[o]
		if of.Zone != n.Zone || of.CapacityType != n.CapacityType {
			continue
		}
		if e := &sc.In.Costs[n.Pool][at][o]; !e.Excluded && len(e.Tiers) > 0 {
			out.effective = e.Tiers[0].Cost + n.Extra.USD()
		}
	}
	return out
}

// Simulation is what becomes of the pods of some nodes.
type Simulation struct {
	// Input is the question: its snapshot is what was solved, its pods those
	// that move.
	Input solver.Input
	Plan  model.Plan
	// Widened says that nodes were added to the answer.
	Widened bool
}

// Without solves the scene without the given nodes: their pods go to others,
// new ones among them.
func (sc *Scene) Without(nodes []int32) *Simulation {
	in := sc.inputWithout(nodes)
	in.Snapshot.Pools = sc.poolsWithout(nodes)
	in.Headroom = sc.headroomWithout(nodes)
	return sc.solve(in)
}

// Within is Without launching anything: the pods have to find room on the
// nodes that there are.
func (sc *Scene) Within(nodes []int32) *Simulation {
	return sc.solve(sc.withoutLaunches(sc.inputWithout(nodes)))
}

// withoutLaunches keeps anything from being launched.
func (sc *Scene) withoutLaunches(in *solver.Input) *solver.Input {
	in.Blocked = make([]*model.Reason, len(sc.snap.Pools))
	for i := range in.Blocked {
		in.Blocked[i] = &model.Reason{Code: model.PoolNotReady, Message: "nothing is to be launched"}
	}
	in.Effort = 0
	return in
}

// Onto is where the pods of nodes go that have replacements: to these first, for
// they were launched for them, and elsewhere with what does not fit there.
func (sc *Scene) Onto(nodes, replacements []int32) *model.Plan {
	if len(replacements) == 0 {
		return &sc.Within(nodes).Plan
	}
	in := sc.withoutLaunches(sc.inputWithout(nodes))
	for i := range in.Snapshot.Nodes {
		if !slices.Contains(replacements, int32(i)) {
			sc.addNoMoveTaint(&in.Snapshot.Nodes[i])
		}
	}
	first := sc.solve(in).Plan
	if len(first.Unplaced) == 0 {
		return &first
	}
	in = sc.withoutLaunches(sc.inputWithout(nodes))
	in.Snapshot, in.Pods = sc.snapshotAfter(in.Snapshot, &first), nil
	for _, u := range first.Unplaced {
		in.Pods = append(in.Pods, u.Pod)
	}
	second := sc.solve(in).Plan
	second.Existing = append(second.Existing, first.Existing...)
	return &second
}

func (sc *Scene) solve(in *solver.Input) *Simulation {
	sc.Solves++
	plan, _ := solver.Solve(*in)
	return &Simulation{Input: *in, Plan: plan}
}

// inputWithout is where the pods of some nodes go when these go.
func (sc *Scene) inputWithout(nodes []int32) *solver.Input {
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

// poolsWithout takes the nodes off their pools' usage: a full limit must not keep
// a pool from getting smaller. A static pool gets no smaller: its limit is for the
// node that goes and the one in its stead, which are both there for a while.
func (sc *Scene) poolsWithout(nodes []int32) []model.Pool {
	out := slices.Clone(sc.snap.Pools)
	for _, i := range nodes {
		n := &sc.snap.Nodes[i]
		p := &out[n.Pool]
		if len(p.Limits) == 0 || p.Replicas != nil {
			continue
		}
		p.Usage = p.Usage.Clone()
		p.Usage[model.NodeCount]--
		capacity := n.Allocatable
		if t := sc.typeOf(n.Pool, n.InstanceType); t != nil {
			capacity = t.Capacity
		}
		for name, amount := range capacity {
			p.Usage[name] = max(0, p.Usage[name]-amount)
		}
	}
	return out
}

// Accept makes a proposal part of the scene: its nodes go, and their pods are
// where its plan puts them.
func (sc *Scene) Accept(nodes []int32, plan *model.Plan) {
	sc.In.Headroom = sc.headroomAccepted(nodes, plan)
	for _, i := range nodes {
		sc.snap.Nodes[i].State = model.Deleting
		sc.removed[i] = true
		sc.movingPods = append(sc.movingPods, sc.survey.moving[i]...)
	}
	sc.snap.Pools = sc.poolsWithout(nodes)
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
		n := sc.nodeOf(&plan.Nodes[i])
		sc.addNoMoveTaint(&n)
		sc.snap.Nodes = append(sc.snap.Nodes, n)
		sc.comingNodes = append(sc.comingNodes, at)
		sc.addUsage(sc.snap.Pools, &n)
		for _, p := range plan.Nodes[i].Pods {
			sc.snap.Pods[p].Node = at
		}
	}
}

// Settled says whether what was accepted so far leaves the node alone: it
// neither goes nor takes pods of nodes that go.
func (sc *Scene) Settled(node int32) bool { return !sc.removed[node] && !sc.received[node] }

// nodeOf is a planned node as a node.
func (sc *Scene) nodeOf(n *model.PlannedNode) model.Node {
	best := &n.Options[0]
	pool := &sc.snap.Pools[n.Pool]
	out := model.Node{
		Name: "planned-" + pool.Name, Pool: n.Pool, State: model.Registered,
		InstanceType: best.InstanceType, Zone: best.Zone, CapacityType: best.CapacityType,
		Price: best.Price, Extra: sc.snap.NodeCost(n.Pool), Labels: map[string]string{}, Taints: pool.Taints,
	}
	if t := sc.typeOf(n.Pool, best.InstanceType); t != nil {
		maps.Copy(out.Labels, t.Labels)
		out.Allocatable = t.Allocatable
	}
	out.Labels["topology.kubernetes.io/zone"] = best.Zone
	out.Labels["karpenter.sh/capacity-type"] = string(best.CapacityType)
	out.Labels["karpenter.sh/nodepool"] = pool.Name
	maps.Copy(out.Labels, pool.NodeLabels)
	maps.Copy(out.Labels, n.Labels)
	return out
}

// addUsage adds a node to its pool's usage.
func (sc *Scene) addUsage(pools []model.Pool, n *model.Node) {
	pool := &pools[n.Pool]
	usage := pool.Usage.Clone()
	if t := sc.typeOf(n.Pool, n.InstanceType); t != nil {
		usage.Add(t.Capacity)
	}
	usage[model.NodeCount]++
	pool.Usage = usage
}
