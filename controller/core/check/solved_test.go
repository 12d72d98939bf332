package check

import (
	"fmt"
	"slices"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/instancetype"
)

// solved is a snapshot with one case of everything, the plan that the solver makes
// for it, and the constraints that the plan was made under.
type solved struct {
	t    *testing.T
	snap *model.Snapshot
	plan *model.Plan
	c    Constraints
}

// solve makes it. The plan is the same each time.
func solve(t *testing.T) *solved {
	t.Helper()
	w := &solved{t: t, snap: &model.Snapshot{Catalogs: []model.Catalog{solvedCatalogue()}, Pools: solvedPools(), Nodes: solvedNodes(), Daemons: []model.DaemonSet{{
		Namespace: "kube-system", Name: "agent", Spec: model.PodSpec{
			Namespace: "kube-system", Requests: model.Resources{"cpu": 100, "memory": gib / 8, "pods": 1},
			Tolerations: []model.Toleration{{Exists: true}}, HostPorts: []model.HostPort{{Port: 9100, Protocol: "TCP"}},
		},
	}}}}
	w.pods()
	in := solver.Input{
		Snapshot: w.snap, Pods: w.c.Pods, Tolerance: 0.5, // without effort: a better plan has too few nodes to plant faults in
		Denied: []model.Denied{{Pool: 0, CapacityType: model.Spot}}, Headroom: []model.Headroom{{Scope: "cluster", Left: model.PriceOf(100)}},
	}
	plan, _ := solver.Solve(in)
	w.plan = &plan
	// The ceiling leaves exactly what the plan may cost.
	left := model.Price(0)
	for i := range plan.Nodes {
		left += plan.Nodes[i].Worst() + w.snap.NodeCost(plan.Nodes[i].Pool)
	}
	w.c.Headroom = []model.Headroom{{Scope: "cluster", Left: left}}
	w.c.Denied = []model.Denied{{Pool: 0, CapacityType: model.Spot}}
	w.c.Excluded = func(_ int32, o model.Option) bool { return o.InstanceType == "old.large" }
	return w
}

func solvedCatalogue() model.Catalog {
	c := instancetype.Catalog()
	c.Region, c.NodeCost = "r", 1000
	for _, t := range []struct {
		name, arch string
		cpu        int64
		price      model.Price
	}{
		{"m.large", "amd64", 2, 100_000},
		{"c.xlarge", "amd64", 4, 190_000},
		{"m.xlarge", "amd64", 4, 200_000},
		{"r.xlarge", "arm64", 4, 210_000},
		{"m.4xlarge", "amd64", 16, 800_000},
		{"old.large", "amd64", 2, 900_000},
	} {
		it := instancetype.Of(t.name, model.Resources{"cpu": t.cpu * 1000, "memory": t.cpu * 4 * gib, "pods": 10 * t.cpu, model.VolumesPrefix + "ebs": 2})
		if t.arch == "arm64" {
			it = instancetype.ARM64(it)
		}
		it.Labels["karpenter.k8s.aws/instance-family"] = t.name[:1]
		for _, zone := range []string{"a", "b", "c"} {
			onDemand, spot := instancetype.OnDemand(zone, t.price), instancetype.Spot(zone, t.price/3)
			onDemand.ZoneID, spot.ZoneID = "id-"+zone, "id-"+zone
			spot.Available = zone != "c"
			it.Offerings = append(it.Offerings, onDemand, spot)
		}
		if t.name == "m.xlarge" {
			it.Offerings = append(it.Offerings, instancetype.Reserved("a", 0, model.Reservation{Free: 1, ID: "cr-1"}))
		}
		c.Types = append(c.Types, it)
	}
	return c
}

func solvedPools() []model.Pool {
	onDemand := model.Requirement{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: []string{"on-demand"}}
	return []model.Pool{
		{
			Name: "general", NodeClass: "default", NodeLabels: map[string]string{"tier": "gold"}, Requirements: []model.Requirement{
				{Key: "team", Operator: model.In, Values: []string{"red", "blue"}},
				{Key: "node.kubernetes.io/instance-type", Operator: model.Exists, MinValues: 2},
				{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: []string{"on-demand", "spot"}},
			},
		},
		{
			Name: "batch", NodeClass: "default", Requirements: []model.Requirement{onDemand},
			Taints: []model.Taint{{Key: "dedicated", Value: "batch", Effect: model.NoSchedule}},
			Limits: model.Resources{"cpu": 64_000, model.NodeCount: 1}, Usage: model.Resources{"cpu": 60_000},
		},
		{
			Name: "reserved", NodeClass: "default", Requirements: []model.Requirement{{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: []string{"reserved"}}},
			Taints: []model.Taint{{Key: "dedicated", Value: "reserved", Effect: model.NoExecute}},
		},
	}
}

func solvedNodes() []model.Node {
	room := model.Resources{"cpu": 2000, "memory": 8 * gib, "pods": 20, model.VolumesPrefix + "ebs": 2}
	var out []model.Node
	for _, zone := range []string{"a", "b"} {
		out = append(out, model.Node{
			Name: "old-" + zone, State: model.Initialized, Pool: 0, InstanceType: "m.large", Zone: zone, CapacityType: model.OnDemand, Allocatable: room,
			Labels: map[string]string{"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "tier": "gold", "team": "red", "topology.kubernetes.io/zone": zone},
		})
	}
	return append(out, model.Node{Name: "going", State: model.Deleting, Pool: 0, Zone: "c", Allocatable: room})
}

// pods adds those that run, and those to be placed.
func (w *solved) pods() {
	app := func(value string) model.PodSelector {
		return model.PodSelector{Namespaces: []string{"ns"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{value}}}}
	}
	spread := model.Spread{Key: zone, MaxSkew: 1, MinDomains: 3, Selector: app("web")}
	// matchLabelKeys: [pod-template-hash], as lowering merges it
	spread.Selector.Labels = append(spread.Selector.Labels, model.Requirement{Key: "pod-template-hash", Operator: model.In, Values: []string{"new"}})
	for _, each := range []struct {
		app   string
		n     int
		cpu   int64
		on    int32
		shape func(*model.PodSpec)
	}{
		{"lonely", 1, 500, 0, func(s *model.PodSpec) {
			s.PodAntiAffinity = []model.PodTerm{{Key: hostnameKey, Selector: app("noisy")}}
		}},
		{"proxy", 1, 500, 1, func(s *model.PodSpec) { s.HostPorts = []model.HostPort{{Port: 8080, Protocol: "TCP"}} }},
		{"web", 2, 100, 0, func(s *model.PodSpec) { s.Labels["pod-template-hash"] = "old" }},
		{"web", 4, 400, -1, func(s *model.PodSpec) {
			s.Labels["pod-template-hash"], s.Spread = "new", []model.Spread{spread}
		}},
		{"cache", 2, 700, -1, func(s *model.PodSpec) {
			s.PodAntiAffinity = []model.PodTerm{{Key: hostnameKey, Selector: app("cache")}}
		}},
		{"db", 2, 600, -1, func(s *model.PodSpec) {
			s.Requests[model.VolumesPrefix+"ebs"] = 2
			s.Pinned, s.Affinity = true, []model.Term{{{Key: zone, Operator: model.In, Values: []string{"b"}}}}
			s.HostPorts = []model.HostPort{{Port: 5432, Protocol: "TCP"}}
		}},
		{"reader", 2, 300, -1, func(s *model.PodSpec) { s.PodAffinity = []model.PodTerm{{Key: zone, Selector: app("db")}} }},
		{"group", 3, 900, -1, func(s *model.PodSpec) {
			s.PodAffinity = []model.PodTerm{{Key: zone, Selector: app("group")}}
		}},
		{"noisy", 1, 200, -1, func(*model.PodSpec) {}},
		{"batch", 2, 1500, -1, func(s *model.PodSpec) {
			s.NodeSelector = map[string]string{"karpenter.sh/nodepool": "batch"}
			s.Tolerations = []model.Toleration{{Key: "dedicated", Value: "batch"}}
		}},
		{"paid", 1, 1000, -1, func(s *model.PodSpec) {
			s.Tolerations = []model.Toleration{{Key: "dedicated", Value: "reserved"}}
			s.Affinity = []model.Term{{{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: []string{"reserved"}}}}
		}},
		{"blue", 1, 700, -1, func(s *model.PodSpec) { s.NodeSelector = map[string]string{"team": "blue"} }},
		{"giant", 1, 99_000, -1, func(*model.PodSpec) {}},
	} {
		spec := model.PodSpec{Namespace: "ns", Labels: map[string]string{"app": each.app}, Requests: model.Resources{"cpu": each.cpu, "memory": gib / 4, "pods": 1}}
		each.shape(&spec)
		w.snap.Specs = append(w.snap.Specs, spec)
		for k := range each.n {
			if each.on < 0 {
				w.c.Pods = append(w.c.Pods, int32(len(w.snap.Pods)))
			}
			w.snap.Pods = append(w.snap.Pods, model.Pod{Namespace: "ns", Name: fmt.Sprintf("%s-%d-%d", each.app, len(w.snap.Specs), k), Spec: int32(len(w.snap.Specs) - 1), Node: each.on})
		}
	}
}

// find lists the pods of an app that the plan was asked to place.
func (w *solved) find(app string) []int32 {
	w.t.Helper()
	var out []int32
	for _, i := range w.c.Pods {
		if w.spec(i).Labels["app"] == app {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		w.t.Fatalf("there is no %s", app)
	}
	return out
}

func (w *solved) spec(pod int32) *model.PodSpec { return &w.snap.Specs[w.snap.Pods[pod].Spec] }

// node is the planned node with the pod.
func (w *solved) node(pod int32) *model.PlannedNode {
	w.t.Helper()
	for i := range w.plan.Nodes {
		if slices.Contains(w.plan.Nodes[i].Pods, pod) {
			return &w.plan.Nodes[i]
		}
	}
	w.t.Fatalf("%s is on no planned node", w.snap.Pods[pod].Name)
	return nil
}

// take removes a pod from wherever the plan lists it.
func (w *solved) take(pod int32) {
	is := func(i int32) bool { return i == pod }
	for i := range w.plan.Nodes {
		w.plan.Nodes[i].Pods = slices.DeleteFunc(w.plan.Nodes[i].Pods, is)
	}
	for i := range w.plan.Existing {
		w.plan.Existing[i].Pods = slices.DeleteFunc(w.plan.Existing[i].Pods, is)
	}
	w.plan.Unplaced = slices.DeleteFunc(w.plan.Unplaced, func(u model.Unplaced) bool { return u.Pod == pod })
}

// leaveOut lists pods as unplaced, and drops the nodes that become empty.
func (w *solved) leaveOut(pods ...int32) {
	for _, pod := range pods {
		w.take(pod)
		w.plan.Unplaced = append(w.plan.Unplaced, model.Unplaced{Pod: pod, Reasons: []model.Reason{{Code: model.TooLarge}}})
	}
	w.plan.Nodes = slices.DeleteFunc(w.plan.Nodes, func(n model.PlannedNode) bool { return len(n.Pods) == 0 })
}

// toNode moves a pod to a planned node, whose claim then requests enough.
func (w *solved) toNode(pod int32, n *model.PlannedNode) {
	w.take(pod)
	n.Pods = append(n.Pods, pod)
	for name := range n.Requests {
		n.Requests[name] += 1 << 40
	}
}

// toExisting moves a pod to an existing node.
func (w *solved) toExisting(pod, node int32) {
	w.take(pod)
	for i := range w.plan.Existing {
		if w.plan.Existing[i].Node == node {
			w.plan.Existing[i].Pods = append(w.plan.Existing[i].Pods, pod)
			return
		}
	}
	w.plan.Existing = append(w.plan.Existing, model.Assignment{Node: node, Pods: []int32{pod}})
}

// alone moves a pod to a node of its own: one m.large of the general pool.
func (w *solved) alone(pod int32, zones ...string) {
	w.take(pod)
	n := model.PlannedNode{Pods: []int32{pod}, Labels: map[string]string{"team": "red"}, Requests: model.Resources{}}
	for name := range w.spec(pod).Requests {
		n.Requests[name] = 1 << 40
	}
	for _, z := range zones {
		for _, o := range []model.Option{{InstanceType: "m.large", Price: 100_000}, {InstanceType: "m.xlarge", Price: 200_000, Effective: 1}} {
			o.Zone, o.CapacityType = z, model.OnDemand
			n.Options = append(n.Options, o)
		}
	}
	slices.SortStableFunc(n.Options, func(a, b model.Option) int { return int(a.Effective - b.Effective) })
	w.plan.Nodes = append(w.plan.Nodes, n)
	w.c.Headroom = nil
}

func TestSolvedPlanIsAccepted(t *testing.T) {
	w := solve(t)
	for _, v := range Plan(w.snap, w.plan, w.c) {
		t.Error(v)
	}
	if len(w.plan.Unplaced) != 1 || len(w.plan.Nodes) < 5 || len(w.plan.Existing) == 0 {
		t.Errorf("%d nodes, %d existing, unplaced %+v: the plan is too small to plant faults in", len(w.plan.Nodes), len(w.plan.Existing), w.plan.Unplaced)
	}
}
