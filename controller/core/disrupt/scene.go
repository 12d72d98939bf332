package disrupt

import (
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// Scene is the cluster as it will be once everything under way is done. An accepted
// proposal becomes part of it, so that no capacity is assigned twice.
type Scene struct {
	// In carries costs, headroom, blocks and denials. Its snapshot is replaced by
	// the scene's own for each simulation.
	In solver.Input
	// Solves counts the simulations.
	Solves int
	// Trusting assumes that the scheduler places pods as planned, which skips the
	// check of worksInAnyOrder.
	Trusting bool

	survey  *Survey
	snap    model.Snapshot
	types   []map[string]*model.InstanceType // by catalogue
	prices  []prices                         // by node
	removed []bool
	// received marks the nodes that accepted proposals move pods to.
	received []bool
	// movingPods are the pods that accepted proposals move and those that wait for
	// the scheduler. comingNodes are the nodes being launched that they may use.
	movingPods, comingNodes []int32
	specs                   *specIndex
	poolTotals              []total
	// findings is by node the search's reason for keeping it.
	findings map[int32]Finding
}

// prices are a node's hourly prices, volumes and address included: the billed price,
// and the effective cost of the rank policies in USD.
type prices struct {
	billed    model.Price
	effective float64
}

// noMoveTaint keeps moved pods off a node. Only pods that tolerate every taint may
// still move to it.
const noMoveTaint = "karpenter.sh/disrupted"

// NewScene returns the scene of the surveyed snapshot. placed are pending pods that
// the plan assigns to existing nodes.
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

// specIndex returns the index of the pod specs, which does not change with the
// scene.
func (sc *Scene) specIndex() *specIndex {
	if sc.specs == nil {
		sc.specs = newSpecIndex(&sc.snap)
	}
	return sc.specs
}

// capacity returns an index of the scene's free capacity.
func (sc *Scene) capacity() *capacityIndex {
	return newCapacityIndex(sc.specIndex(), &sc.snap, make([]bool, len(sc.snap.Pods)))
}

// Host allows pods to move to a node that is still being launched, as for the
// replacements of a command.
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

// price returns the prices of a node. An offering that the rank policies exclude, or
// that is no longer in the catalogue, has its billed price as effective cost.
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

// Simulation is a solver question about the pods of some nodes, and its answer.
type Simulation struct {
	// Input is the question. Its Pods are the pods that move.
	Input solver.Input
	Plan  model.Plan
	// Widened is set when nodes were added to the solver's plan.
	Widened bool
}

// Without solves the scene without the given nodes. Their pods may go to other nodes
// and to new ones.
func (sc *Scene) Without(nodes []int32) *Simulation {
	in := sc.inputWithout(nodes)
	in.Snapshot.Pools = sc.poolsWithout(nodes)
	in.Headroom = sc.headroomWithout(nodes)
	return sc.solve(in)
}

// Within is Without with no launches: the pods must fit on the other nodes.
func (sc *Scene) Within(nodes []int32) *Simulation {
	return sc.solve(sc.withoutLaunches(sc.inputWithout(nodes)))
}

// withoutLaunches blocks every pool in the input and returns it.
func (sc *Scene) withoutLaunches(in *solver.Input) *solver.Input {
	in.Blocked = make([]*model.Reason, len(sc.snap.Pools))
	for i := range in.Blocked {
		in.Blocked[i] = &model.Reason{Code: model.PoolNotReady, Message: "nothing is to be launched"}
	}
	in.Effort = 0
	return in
}

// Onto plans where the pods of nodes with replacements go: to the replacements
// first, and the rest to any other node.
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

// inputWithout returns the solver input in which the nodes are being deleted and
// their pods need a place.
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

// poolsWithout returns the pools with the nodes deducted from their usage, so that a
// pool at its limit can still be replaced. A static pool's usage stays: its limit
// must cover a node and its replacement, which both exist for some time.
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

// Accept makes a proposal part of the scene: its nodes are removed, and their pods
// are where its plan places them.
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

// Settled reports whether no accepted proposal concerns the node: it is neither
// removed nor receives pods of removed nodes.
func (sc *Scene) Settled(node int32) bool { return !sc.removed[node] && !sc.received[node] }

// nodeOf returns a planned node, with its best option, as a registered node.
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
