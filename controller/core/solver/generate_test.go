package solver

import (
	"fmt"
	"math/rand/v2"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
)

const gib = 1 << 30

// generator makes random snapshots that exercise everything the solver knows.
type generator struct {
	*rand.Rand
	s *model.Snapshot
}

func newGenerator(seed uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 1)), s: &model.Snapshot{}}
}

func pick[T any](g *generator, xs ...T) T { return xs[g.IntN(len(xs))] }

func (g *generator) chance(p float64) bool { return g.Float64() < p }

// family is a kind of instance types: memory per vCPU and price factors.
type family struct {
	name, arch string
	memory     int64 // GiB per vCPU
	price      float64
	gpu        bool
}

// families are loosely those of EC2.
func families() []family {
	return []family{
		{name: "c6i", arch: "amd64", memory: 2, price: 0.0425},
		{name: "c7g", arch: "arm64", memory: 2, price: 0.0363},
		{name: "m6i", arch: "amd64", memory: 4, price: 0.048},
		{name: "m7g", arch: "arm64", memory: 4, price: 0.0408},
		{name: "r6i", arch: "amd64", memory: 8, price: 0.063},
		{name: "r7g", arch: "arm64", memory: 8, price: 0.0536},
		{name: "g5", arch: "amd64", memory: 4, price: 0.12, gpu: true},
	}
}

// catalog has every family in some sizes, three zones, spot and on demand.
func (g *generator) catalog(name string, sizes ...int64) model.Catalog {
	c := model.Catalog{NodeClass: name, Region: "us-west-2", Generation: 1}
	for _, f := range families() {
		for _, vcpu := range sizes {
			c.Types = append(c.Types, g.instanceType(f, vcpu))
		}
	}
	return c
}

func (g *generator) instanceType(f family, vcpu int64) model.InstanceType {
	t := model.InstanceType{
		Name: fmt.Sprintf("%s.x%d", f.name, vcpu), Arch: f.arch, OS: "linux",
		Labels: map[string]string{
			"karpenter.k8s.aws/instance-family": f.name, "karpenter.k8s.aws/instance-cpu": fmt.Sprint(vcpu),
			"node.kubernetes.io/instance-type": fmt.Sprintf("%s.x%d", f.name, vcpu), "kubernetes.io/arch": f.arch, "kubernetes.io/os": "linux",
		},
		Capacity: model.Resources{
			"cpu": vcpu * 1000, "memory": vcpu * f.memory * gib, "pods": 8 + 14*min(vcpu, 16), "ephemeral-storage": 20 * gib,
		},
	}
	if f.gpu {
		t.Capacity["nvidia.com/gpu"] = max(1, vcpu/8)
		t.Labels["karpenter.k8s.aws/instance-gpu-name"] = "a10g"
	}
	t.Allocatable = t.Capacity.Clone()
	t.Allocatable["cpu"] -= 80 + vcpu*3
	t.Allocatable["memory"] -= 255<<20 + 11<<20*t.Capacity["pods"] + 100<<20
	base := f.price * float64(vcpu)
	for i, zone := range []string{"us-west-2a", "us-west-2b", "us-west-2c"} {
		id := fmt.Sprintf("usw2-az%d", i+1)
		t.Offerings = append(t.Offerings,
			model.Offering{Zone: zone, ZoneID: id, CapacityType: model.OnDemand, Price: model.PriceOf(base), Available: !g.chance(0.03)},
			model.Offering{Zone: zone, ZoneID: id, CapacityType: model.Spot, Price: model.PriceOf(base * (0.25 + 0.4*g.Float64())), Available: !g.chance(0.1)})
	}
	return t
}

func (g *generator) pool(name string, catalog int32) model.Pool {
	p := model.Pool{Name: name, NodeClass: g.s.Catalogs[catalog].NodeClass, Catalog: catalog}
	if g.chance(0.3) {
		p.Weight = int32(g.IntN(3)) * 10
	}
	if g.chance(0.4) {
		p.Requirements = append(p.Requirements, model.Requirement{Key: labelArch, Operator: model.In, Values: []string{pick(g, "amd64", "arm64")}})
	}
	if g.chance(0.4) {
		p.Requirements = append(p.Requirements, model.Requirement{Key: labelCapacityType, Operator: model.In, Values: []string{pick(g, "spot", "on-demand")}})
	}
	if g.chance(0.3) {
		p.Requirements = append(p.Requirements, model.Requirement{Key: labelZone, Operator: model.NotIn, Values: []string{"us-west-2a"}})
	}
	if g.chance(0.3) {
		p.Requirements = append(p.Requirements, model.Requirement{Key: "karpenter.k8s.aws/instance-cpu", Operator: model.Gt, Values: []string{"2"}})
	}
	if g.chance(0.4) {
		p.Requirements = append(p.Requirements, pick(g,
			model.Requirement{Key: "example.com/team", Operator: model.In, Values: []string{"red"}},
			model.Requirement{Key: "example.com/team", Operator: model.In, Values: []string{"red", "blue", "grey"}},
			model.Requirement{Key: "example.com/team", Operator: model.NotIn, Values: []string{"red"}},
			model.Requirement{Key: "example.com/team", Operator: model.Exists}))
	}
	if g.chance(0.3) {
		p.NodeLabels = map[string]string{"example.com/tier": pick(g, "gold", "iron")}
	}
	if g.chance(0.3) {
		p.Taints = []model.Taint{{Key: "example.com/dedicated", Value: "x", Effect: pick(g, model.NoSchedule, model.NoExecute, model.PreferNoSchedule)}}
	}
	if g.chance(0.2) {
		p.StartupTaints = []model.Taint{{Key: "example.com/starting", Effect: model.NoSchedule}}
	}
	if g.chance(0.3) {
		p.Limits = model.Resources{"cpu": int64(g.IntN(60)) * 1000}
		p.Usage = model.Resources{"cpu": int64(g.IntN(20)) * 1000}
	}
	if g.chance(0.15) {
		p.Limits = model.Resources{"nodes": int64(g.IntN(6))}
	}
	if g.chance(0.05) {
		p.NotReady = "subnets not found"
	}
	return p
}

func (g *generator) spec() model.PodSpec {
	s := model.PodSpec{
		Namespace: pick(g, "a", "b"),
		Requests: model.Resources{
			"pods": 1, "cpu": pick[int64](g, 50, 100, 250, 500, 1000, 2000, 3500), "memory": int64(1+g.IntN(40)) * (100 << 20),
		},
	}
	if g.chance(0.05) {
		s.Requests["nvidia.com/gpu"] = 1
	}
	if g.chance(0.05) {
		s.Requests["ephemeral-storage"] = int64(g.IntN(10)) * gib
	}
	if g.chance(0.02) {
		s.Requests["cpu"] = 500_000
	}
	if g.chance(0.15) {
		s.NodeSelector = map[string]string{labelArch: pick(g, "amd64", "arm64")}
	}
	if g.chance(0.1) {
		s.NodeSelector = map[string]string{"example.com/team": pick(g, "red", "blue", "green")}
	}
	if g.chance(0.1) {
		s.NodeSelector = map[string]string{labelZone: pick(g, "us-west-2a", "us-west-2b", "us-west-2c")}
	}
	if g.chance(0.2) {
		s.Affinity = []model.Term{g.term()}
		if g.chance(0.4) {
			s.Affinity = append(s.Affinity, g.term())
		}
	}
	if g.chance(0.4) {
		s.Tolerations = []model.Toleration{{Key: "example.com/dedicated", Exists: g.chance(0.5), Value: pick(g, "x", "y")}}
	}
	if g.chance(0.06) {
		s.HostPorts = []model.HostPort{{Protocol: pick(g, "TCP", "UDP"), Port: pick[int32](g, 80, 8080), IP: pick(g, "", "10.0.0.1", "0.0.0.0")}}
	}
	if g.chance(0.2) {
		s.Priority = pick[int32](g, 100, 1000, -5)
	}
	if g.chance(0.03) {
		s.Unsupported = []string{"podAntiAffinity"}
	}
	return s
}

func (g *generator) term() model.Term {
	var t model.Term
	for range 1 + g.IntN(2) {
		t = append(t, pick(g,
			model.Requirement{Key: labelZone, Operator: model.In, Values: []string{"us-west-2a", "us-west-2b"}},
			model.Requirement{Key: labelCapacityType, Operator: model.NotIn, Values: []string{"spot"}},
			model.Requirement{Key: "karpenter.k8s.aws/instance-gpu-name", Operator: model.DoesNotExist},
			model.Requirement{Key: "karpenter.k8s.aws/instance-cpu", Operator: model.Lt, Values: []string{"16"}},
			model.Requirement{Key: "example.com/tier", Operator: model.Exists},
			model.Requirement{Key: "example.com/tier", Operator: model.NotIn, Values: []string{"gold"}},
			model.Requirement{Key: labelZoneID, Operator: model.In, Values: []string{"usw2-az2", "usw2-az3"}},
			model.Requirement{Key: labelHostname, Operator: model.NotIn, Values: []string{"node-1"}},
			model.Requirement{Key: labelPool, Operator: model.In, Values: []string{"pool-0", "pool-1"}},
		))
	}
	return t
}

func (g *generator) daemon(i int) model.DaemonSet {
	d := model.DaemonSet{Namespace: "kube-system", Name: fmt.Sprintf("agent-%d", i)}
	d.Spec = model.PodSpec{Namespace: "kube-system", Requests: model.Resources{"pods": 1, "cpu": 50, "memory": 64 << 20}}
	if g.chance(0.3) {
		d.Spec.NodeSelector = map[string]string{labelArch: "amd64"}
	}
	if g.chance(0.3) {
		d.Spec.NodeSelector = map[string]string{labelCapacityType: "spot"}
	}
	if g.chance(0.5) {
		d.Spec.Tolerations = []model.Toleration{{Exists: true}}
	}
	if g.chance(0.2) {
		d.Spec.HostPorts = []model.HostPort{{Protocol: "TCP", Port: 8080}}
	}
	return d
}

func (g *generator) node(i int) model.Node {
	t := &g.s.Catalogs[0].Types[g.IntN(len(g.s.Catalogs[0].Types))]
	n := model.Node{
		Name: fmt.Sprintf("node-%d", i), Pool: int32(g.IntN(len(g.s.Pools))), InstanceType: t.Name,
		State: pick(g, model.InFlight, model.Registered, model.Initialized, model.Initialized, model.Deleting, model.Unmanaged),
		Zone:  "us-west-2a", CapacityType: model.Spot, Allocatable: t.Allocatable.Clone(),
	}
	if n.State == model.Unmanaged {
		n.Pool = -1
	}
	if n.State != model.InFlight {
		n.Labels = t.Labels
	}
	if g.chance(0.3) {
		n.Taints = append(n.Taints, model.Taint{Key: "karpenter.sh/unregistered", Effect: model.NoExecute})
	}
	if g.chance(0.2) {
		n.Taints = append(n.Taints, model.Taint{Key: "example.com/starting", Effect: model.NoSchedule})
	}
	return n
}

// snapshot makes a random cluster and the input that asks for all its pending
// pods.
func (g *generator) input(pods int) Input {
	g.s = &model.Snapshot{Catalogs: []model.Catalog{g.catalog("default", 1, 2, 4, 8, 16, 32), g.catalog("other", 2, 8, 64)}}
	for i := range 1 + g.IntN(4) {
		g.s.Pools = append(g.s.Pools, g.pool(fmt.Sprintf("pool-%d", i), int32(g.IntN(2))))
	}
	for i := range g.IntN(4) {
		g.s.Daemons = append(g.s.Daemons, g.daemon(i))
	}
	for i := range g.IntN(8) {
		g.s.Nodes = append(g.s.Nodes, g.node(i))
	}
	for range 1 + g.IntN(1+pods/2) {
		g.s.Specs = append(g.s.Specs, g.spec())
	}
	in := Input{Snapshot: g.s, Effort: pick(g, 0, 200, DefaultEffort), Tolerance: pick(g, 0, 0.15, 0.5)}
	for i := range pods {
		p := model.Pod{Namespace: "ns", Name: fmt.Sprintf("pod-%d", i), Spec: int32(g.IntN(len(g.s.Specs))), Node: -1}
		if len(g.s.Nodes) > 0 && g.chance(0.1) {
			p.Node = int32(g.IntN(len(g.s.Nodes)))
			p.Daemon = g.chance(0.2)
			if p.Daemon {
				p.Name = fmt.Sprintf("agent-%d-x%d", g.IntN(4), i)
				p.Namespace = "kube-system"
			}
		}
		if p.Node < 0 || g.s.Nodes[p.Node].State == model.Deleting && !p.Daemon {
			in.Pods = append(in.Pods, int32(len(g.s.Pods)))
		}
		g.s.Pods = append(g.s.Pods, p)
	}
	return in
}

// policies adds what policies would: costs, tiers, headroom, denials.
func (g *generator) policies(in *Input) {
	if g.chance(0.5) {
		in.Costs = make([]Costs, len(g.s.Pools))
		for p := range g.s.Pools {
			in.Costs[p] = g.costs(&g.s.Catalogs[g.s.Pools[p].Catalog])
		}
	}
	if g.chance(0.5) {
		in.Headroom = append(in.Headroom, Headroom{Scope: "cluster", Left: model.PriceOf(g.Float64() * 4), Policy: "budget"})
	}
	if g.chance(0.3) {
		marked := make([]bool, len(g.s.Pools))
		marked[g.IntN(len(marked))] = true
		in.Headroom = append(in.Headroom, Headroom{Scope: "nodepool/x", Pools: marked, Left: model.PriceOf(g.Float64() - 0.1), Policy: "team"})
	}
	if g.chance(0.3) {
		in.Denied = append(in.Denied, Denied{Pool: 0, CapacityType: model.Spot, Policy: "review", Reason: "no spot"})
	}
}

func (g *generator) costs(c *model.Catalog) Costs {
	out := make(Costs, len(c.Types))
	for t := range out {
		out[t] = make([]Effective, len(c.Types[t].Offerings))
		for o := range out[t] {
			price := c.Types[t].Offerings[o].Price.USD()
			switch {
			case g.chance(0.05):
				out[t][o] = Effective{Excluded: true, Policy: "rank", Reason: "not this one"}
			case g.chance(0.1):
				out[t][o].Tiers = []Tier{{Until: uint32(1 + g.IntN(2)), Cost: price * 0.3}, {Cost: price}}
			case g.chance(0.3):
				out[t][o].Tiers = []Tier{{Cost: price * (0.5 + g.Float64())}}
			}
		}
	}
	return out
}

// constraints are the input's, as the checker wants them.
func constraints(in *Input) check.Constraints {
	c := check.Constraints{Pods: in.Pods}
	for _, h := range in.Headroom {
		c.Headroom = append(c.Headroom, check.Headroom{Scope: h.Scope, Pools: h.Pools, Left: h.Left})
	}
	for _, d := range in.Denied {
		c.Denied = append(c.Denied, check.Denied{Pool: d.Pool, InstanceType: d.InstanceType, Zone: d.Zone, CapacityType: d.CapacityType})
	}
	return c
}

// topology gives specs labels and, to some, topology constraints, and pools
// minValues now and then.
func (g *generator) topology(in *Input) {
	for i := range in.Snapshot.Pools {
		if p := &in.Snapshot.Pools[i]; g.chance(0.1) {
			p.Requirements = append(p.Requirements, model.Requirement{
				Key: pick(g, labelInstanceType, "karpenter.k8s.aws/instance-family"), Operator: model.Exists, MinValues: 1 + g.IntN(8),
			})
		}
	}
	for i := range in.Snapshot.Specs {
		s := &in.Snapshot.Specs[i]
		s.Labels = map[string]string{"app": pick(g, "a", "b", "c", "d"), "tier": pick(g, "web", "db")}
		if g.chance(0.25) {
			s.Spread = append(s.Spread, g.spread())
		}
		if g.chance(0.05) {
			s.Spread = append(s.Spread, g.spread())
		}
		if g.chance(0.15) {
			s.PodAntiAffinity = append(s.PodAntiAffinity, g.podTerm())
		}
		if g.chance(0.15) {
			s.PodAffinity = append(s.PodAffinity, g.podTerm())
		}
		g.prefer(s)
	}
}

// prefer gives a spec preferences, now and then.
func (g *generator) prefer(s *model.PodSpec) {
	if g.chance(0.05) {
		s.Preferred = append(s.Preferred, model.WeightedTerm{Weight: int32(1 + g.IntN(100)), Term: g.term()})
	}
	if g.chance(0.05) {
		s.PreferredApart = append(s.PreferredApart, model.WeightedPodTerm{Weight: int32(1 + g.IntN(100)), Term: g.podTerm()})
	}
	if g.chance(0.05) {
		s.PreferredPods = append(s.PreferredPods, model.WeightedPodTerm{Weight: int32(1 + g.IntN(100)), Term: g.podTerm()})
	}
}

func (g *generator) selector() model.PodSelector {
	s := model.PodSelector{Namespaces: pick(g, []string{"a"}, []string{"b"}, []string{"a", "b"})}
	switch g.IntN(4) {
	case 0:
		s.Labels = []model.Requirement{{Key: "app", Operator: model.In, Values: []string{"a", "b"}}}
	case 1:
		s.Labels = []model.Requirement{{Key: "app", Operator: model.NotIn, Values: []string{"a"}}, {Key: "tier", Operator: model.In, Values: []string{"db"}}}
	default:
		s.Labels = []model.Requirement{{Key: "app", Operator: model.In, Values: []string{pick(g, "a", "b", "c", "d")}}}
	}
	s.Nothing = g.chance(0.03)
	return s
}

func (g *generator) spread() model.Spread {
	return model.Spread{
		Key:     pick(g, labelHostname, labelZone, labelZone, labelCapacityType, "example.com/tier"),
		MaxSkew: pick[int32](g, 1, 1, 2, 5), MinDomains: pick[int32](g, 1, 1, 1, 3), Selector: g.selector(),
		Soft: g.chance(0.1), IgnoreAffinity: g.chance(0.2), HonorTaints: g.chance(0.2),
	}
}

func (g *generator) podTerm() model.PodTerm {
	return model.PodTerm{Key: pick(g, labelHostname, labelHostname, labelZone, labelCapacityType, "example.com/tier"), Selector: g.selector()}
}
