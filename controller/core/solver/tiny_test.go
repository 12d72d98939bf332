package solver

import (
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/test/kit/random"
)

// tiny makes a cluster of which all plans can be tried: a handful of pods and a few
// offerings, with every kind of constraint.
func (g *generator) tiny() Input {
	g.Snapshot = &model.Snapshot{Catalogs: []model.Catalog{g.fewTypes()}}
	for i := range 1 + g.IntN(2) {
		p := model.Pool{Name: fmt.Sprint("pool-", i), NodeClass: "default"}
		if g.Chance(0.2) {
			p.Taints = []model.Taint{{Key: "example.com/dedicated", Value: "x", Effect: model.NoSchedule}}
		}
		if g.Chance(0.2) {
			p.NodeLabels = map[string]string{"example.com/tier": random.Pick(g, "gold", "iron")}
		}
		g.Snapshot.Pools = append(g.Snapshot.Pools, p)
	}
	for i := range g.IntN(3) {
		g.Snapshot.Daemons = append(g.Snapshot.Daemons, g.Daemon(i))
	}
	for i := range g.IntN(3) {
		t := &g.Snapshot.Catalogs[0].Types[0]
		n := model.Node{
			Name: fmt.Sprint("node-", i), Pool: -1, InstanceType: t.Name, State: model.Unmanaged, CapacityType: model.OnDemand,
			Zone: random.Pick(g, "us-west-2a", "us-west-2b", "us-west-2c"), Allocatable: model.Resources{"cpu": 1000, "memory": 2 * gib, "pods": 10},
		}
		n.Labels = map[string]string{constraint.LabelZone: n.Zone, constraint.LabelHostname: n.Name, constraint.LabelCapacityType: string(model.OnDemand), constraint.LabelArch: "amd64", constraint.LabelOS: "linux"}
		g.Snapshot.Nodes = append(g.Snapshot.Nodes, n)
	}
	in := Input{Snapshot: g.Snapshot, Effort: DefaultEffort}
	for i := range 1 + g.IntN(3) {
		g.Snapshot.Specs = append(g.Snapshot.Specs, g.small(i))
	}
	for i := range 2 + g.IntN(5) {
		p := model.Pod{Namespace: "a", Name: fmt.Sprint("pod-", i), Spec: int32(g.IntN(len(g.Snapshot.Specs))), Node: -1}
		if s := &g.Snapshot.Specs[p.Spec]; len(g.Snapshot.Nodes) > 0 && g.Chance(0.15) && len(s.PodAntiAffinity)+len(s.Spread)+len(s.PodAffinity) == 0 {
			p.Node = int32(g.IntN(len(g.Snapshot.Nodes)))
		} else {
			in.Pods = append(in.Pods, int32(i))
		}
		g.Snapshot.Pods = append(g.Snapshot.Pods, p)
	}
	g.Snapshot.Catalogs[0].NodeCost = model.Price(g.IntN(3) * 5000)
	if g.Chance(0.3) {
		in.Costs = []supply.Costs{g.costs(&g.Snapshot.Catalogs[0])}
		for len(in.Costs) < len(g.Snapshot.Pools) {
			in.Costs = append(in.Costs, nil)
		}
	}
	return in
}

// fewTypes is a catalogue of two or three types in two or three zones.
func (g *generator) fewTypes() model.Catalog {
	c := model.Catalog{NodeClass: "default", Region: "us-west-2", Generation: 1}
	all := random.Families()
	for _, vcpu := range []int64{2, 4, 8}[:2+g.IntN(2)] {
		t := g.InstanceType(all[g.IntN(4)], vcpu)
		zones := 2 + g.IntN(2)
		t.Offerings = slices.DeleteFunc(t.Offerings, func(o model.Offering) bool {
			return o.CapacityType == model.OnDemand && vcpu == 8 || o.Zone == "us-west-2c" && zones == 2
		})
		c.Types = append(c.Types, t)
	}
	return c
}

// small is a spec for tiny clusters.
func (g *generator) small(i int) model.PodSpec {
	s := model.PodSpec{
		Namespace: "a", Labels: map[string]string{"app": fmt.Sprint("app-", i), "tier": random.Pick(g, "web", "db")},
		Requests: model.Resources{"pods": 1, "cpu": random.Pick[int64](g, 100, 500, 900, 1300, 1900, 2600), "memory": int64(1+g.IntN(40)) * (100 << 20)},
	}
	if g.Chance(0.4) {
		s.Tolerations = []model.Toleration{{Key: "example.com/dedicated", Exists: true}}
	}
	if g.Chance(0.1) {
		s.NodeSelector = map[string]string{constraint.LabelZone: random.Pick(g, "us-west-2a", "us-west-2b")}
	}
	if g.Chance(0.1) {
		s.Affinity = []model.Term{{{Key: constraint.LabelCapacityType, Operator: model.NotIn, Values: []string{"spot"}}}}
	}
	if g.Chance(0.1) {
		s.HostPorts = []model.HostPort{{Protocol: "TCP", Port: 8080}}
	}
	who := model.PodSelector{Namespaces: []string{"a"}, Labels: []model.Requirement{random.Pick(g,
		model.Requirement{Key: "app", Operator: model.In, Values: []string{s.Labels["app"]}},
		model.Requirement{Key: "app", Operator: model.In, Values: []string{s.Labels["app"]}},
		model.Requirement{Key: "tier", Operator: model.In, Values: []string{"web"}},
		model.Requirement{Key: "app", Operator: model.In, Values: []string{"app-0", "app-1"}})}}
	if g.Chance(0.5) {
		s.Spread = []model.Spread{{
			Key: random.Pick(g, constraint.LabelHostname, constraint.LabelZone, constraint.LabelZone, constraint.LabelZone, constraint.LabelCapacityType), MaxSkew: random.Pick[int32](g, 1, 1, 2, 3), MinDomains: random.Pick[int32](g, 1, 1, 1, 3),
			Selector: who, IgnoreAffinity: g.Chance(0.2), HonorTaints: g.Chance(0.2),
		}}
	}
	if g.Chance(0.25) {
		s.PodAntiAffinity = []model.PodTerm{{Key: random.Pick(g, constraint.LabelHostname, constraint.LabelHostname, constraint.LabelZone), Selector: who}}
	}
	if g.Chance(0.15) {
		s.PodAffinity = []model.PodTerm{{Key: random.Pick(g, constraint.LabelHostname, constraint.LabelZone), Selector: who}}
	}
	return s
}
