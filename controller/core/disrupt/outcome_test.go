package disrupt

import (
	"math"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/instancetype"
)

// twoPods returns a cluster of a node with a pod of 4 and one of 2 vCPUs, and two empty nodes
// with room for one each. A new node of 4 vCPUs costs that much.
func twoPods(usd float64) *Projection {
	medium := instancetype.Of("medium", capacityOf(4000))
	medium.Offerings = append(medium.Offerings, instancetype.OnDemand("a", model.PriceOf(usd)))
	s := &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(medium)}, Pools: []model.Pool{{Name: "general", NodeClass: "default", Usage: model.Resources{model.NodeCount: 3}}},
	}
	for i, cpu := range []int64{8000, 4000, 2000} {
		n := string(rune('a' + i))
		s.Nodes = append(s.Nodes, model.Node{
			Name: n, Claim: n, State: model.Initialized, Zone: "a", CapacityType: model.OnDemand, Price: model.PriceOf(1), Allocatable: capacityOf(cpu),
			Labels: map[string]string{"topology.kubernetes.io/zone": "a"},
		})
	}
	for i, cpu := range []int64{4000, 2000} {
		s.Specs = append(s.Specs, model.PodSpec{Namespace: "shop", Requests: model.Resources{model.CPU: cpu, model.PodSlots: 1}})
		s.Pods = append(s.Pods, model.Pod{UID: string(rune('a' + i)), Namespace: "shop", Name: string(rune('a' + i)), Spec: int32(i)})
	}
	in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 1), Costs: make([]solver.Costs, 1), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
	return NewProjection(NewSurvey(s, nil), &in, nil)
}

// TestRepair: a node of a large and a small pod goes; the other nodes have room for the large one,
// and for the small one. In the orders in which the small pod takes the larger room, the
// large one needs a node.
func TestRepair(t *testing.T) {
	const node = 0.3
	for name, tc := range map[string]struct {
		reason string
		change func(*Projection)
		// of the eight orders, how many leave the large pod over; -1 if nothing can be launched
		// for it
		least, most int
	}{
		"some orders": {reason: "small ones that come first take its place", change: func(*Projection) {}, least: 1, most: 7},
		"roomy":       {reason: "there is room for both on the larger node", change: func(sc *Projection) { sc.snap.Nodes[1].Allocatable = capacityOf(6000) }},
		"trusting":    {reason: "the scheduler does as planned", change: func(sc *Projection) { sc.Trusting = true }},
		"limit":       {reason: "the pool may have no further node", change: func(sc *Projection) { sc.snap.Pools[0].Limits = model.Resources{model.NodeCount: 2} }, least: -1},
		"cap":         {reason: "no money is left for one", change: func(sc *Projection) { sc.In.Headroom = []model.Headroom{{Left: 200_000}} }, least: -1},
		"before": {reason: "what was accepted needs the node in the same orders without the proposal", change: func(sc *Projection) {
			sc.Accept([]int32{0}, &model.Plan{})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			sc := twoPods(node)
			tc.change(sc)
			var goes []int32
			if !sc.removed[0] {
				goes = []int32{0}
			}
			p := sc.propose(Underutilized, goes, &Simulation{Input: *sc.inputWithout(goes)})
			(&consolidator{sc}).expectRepair(p)
			orders := p.Repair * placementOrders / node
			if tc.least < 0 {
				if !math.IsInf(p.Repair, 1) {
					t.Errorf("%s: %g $/h, want it refused", tc.reason, p.Repair)
				}
				return
			}
			if orders < float64(tc.least)-1e-6 || orders > float64(tc.most)+1e-6 || math.Abs(orders-math.Round(orders)) > 1e-6 {
				t.Errorf("%s: %g of %d orders need a node, want %d to %d", tc.reason, orders, placementOrders, tc.least, tc.most)
			}
		})
	}
}

func capacityOf(cpu int64) model.Resources {
	return model.Resources{model.CPU: cpu, model.Memory: cpu << 20, model.PodSlots: 10}
}

// TestNoRiskWithNodesForMovedPods: the removal of TestRepair pays in the mean. A node that was
// launched for pods of others goes only if every order works.
func TestNoRiskWithNodesForMovedPods(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(n []model.Node)
		want   bool
	}{
		"risk":      {reason: "it pays in the mean", change: func([]model.Node) {}, want: true},
		"for moved": {reason: "its pods have moved already", change: func(n []model.Node) { n[0].ForMoved = true }},
		"no risk":   {reason: "there is room in every order", change: func(n []model.Node) { n[0].ForMoved, n[1].Allocatable = true, capacityOf(6000) }, want: true},
		"others":    {reason: "the other nodes stay", change: func(n []model.Node) { n[1].ForMoved, n[2].ForMoved = true, true }, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			sc := twoPods(0.3)
			tc.change(sc.snap.Nodes)
			p := sc.propose(Underutilized, []int32{0}, &Simulation{Input: *sc.inputWithout([]int32{0})})
			if got := (&consolidator{sc}).worksOut(p); got != tc.want {
				t.Errorf("%s: worksOut = %v", tc.reason, got)
			}
		})
	}
}

// TestFitsOnceReady: the two other nodes are too small, so that each pod needs a new node. 1 $/h
// is saved.
func TestFitsOnceReady(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		usd    float64 // of a node that is launched for a pod left over
		nodes  int
		want   bool
	}{
		"one":   {reason: "the small pod finds no place beside the large one", usd: 2, nodes: 1},
		"cheap": {reason: "and gets a node for less than is saved", usd: 0.3, nodes: 1, want: true},
		"two":   {reason: "one for each", usd: 2, nodes: 2, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			sc := twoPods(tc.usd)
			sc.snap.Nodes[1].Allocatable, sc.snap.Nodes[2].Allocatable = capacityOf(1000), capacityOf(1000)
			p := sc.propose(Underutilized, []int32{0}, &Simulation{Input: *sc.inputWithout([]int32{0})})
			for range tc.nodes {
				p.Sim.Plan.Nodes = append(p.Sim.Plan.Nodes, model.PlannedNode{Options: []model.Option{{InstanceType: "medium", Zone: "a", CapacityType: model.OnDemand}}})
			}
			if got := (&consolidator{sc}).fitsOnceReady(p); got != tc.want {
				t.Errorf("%s: fitsOnceReady = %v", tc.reason, got)
			}
		})
	}
}
