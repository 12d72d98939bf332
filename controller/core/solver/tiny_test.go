package solver

import (
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// tiny makes a cluster of which all plans can be tried: a handful of pods and a few
// offerings, with every kind of constraint.
func (g *generator) tiny() Input {
	g.s = &model.Snapshot{Catalogs: []model.Catalog{g.fewTypes()}}
	for i := range 1 + g.IntN(2) {
		p := model.Pool{Name: fmt.Sprint("pool-", i), NodeClass: "default"}
		if g.chance(0.2) {
			p.Taints = []model.Taint{{Key: "example.com/dedicated", Value: "x", Effect: model.NoSchedule}}
		}
		if g.chance(0.2) {
			p.NodeLabels = map[string]string{"example.com/tier": pick(g, "gold", "iron")}
		}
		g.s.Pools = append(g.s.Pools, p)
	}
	for i := range g.IntN(3) {
		g.s.Daemons = append(g.s.Daemons, g.daemon(i))
	}
	for i := range g.IntN(3) {
		t := &g.s.Catalogs[0].Types[0]
		n := model.Node{
			Name: fmt.Sprint("node-", i), Pool: -1, InstanceType: t.Name, State: model.Unmanaged, CapacityType: model.OnDemand,
			Zone: pick(g, "us-west-2a", "us-west-2b", "us-west-2c"), Allocatable: model.Resources{"cpu": 1000, "memory": 2 * gib, "pods": 10},
		}
		n.Labels = map[string]string{labelZone: n.Zone, labelHostname: n.Name, labelCapacityType: string(model.OnDemand), labelArch: "amd64", labelOS: "linux"}
		g.s.Nodes = append(g.s.Nodes, n)
	}
	in := Input{Snapshot: g.s, Effort: DefaultEffort}
	for i := range 1 + g.IntN(3) {
		g.s.Specs = append(g.s.Specs, g.small(i))
	}
	for i := range 2 + g.IntN(5) {
		p := model.Pod{Namespace: "a", Name: fmt.Sprint("pod-", i), Spec: int32(g.IntN(len(g.s.Specs))), Node: -1}
		if s := &g.s.Specs[p.Spec]; len(g.s.Nodes) > 0 && g.chance(0.15) && len(s.PodAntiAffinity)+len(s.Spread)+len(s.PodAffinity) == 0 {
			p.Node = int32(g.IntN(len(g.s.Nodes)))
		} else {
			in.Pods = append(in.Pods, int32(i))
		}
		g.s.Pods = append(g.s.Pods, p)
	}
	g.s.Catalogs[0].NodeCost = model.Price(g.IntN(3) * 5000)
	if g.chance(0.3) {
		in.Costs = []Costs{g.costs(&g.s.Catalogs[0])}
		for len(in.Costs) < len(g.s.Pools) {
			in.Costs = append(in.Costs, nil)
		}
	}
	return in
}

// fewTypes is a catalogue of two or three types in two or three zones.
func (g *generator) fewTypes() model.Catalog {
	c := model.Catalog{NodeClass: "default", Region: "us-west-2", Generation: 1}
	all := families()
	for _, vcpu := range []int64{2, 4, 8}[:2+g.IntN(2)] {
		t := g.instanceType(all[g.IntN(4)], vcpu)
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
		Namespace: "a", Labels: map[string]string{"app": fmt.Sprint("app-", i), "tier": pick(g, "web", "db")},
		Requests: model.Resources{"pods": 1, "cpu": pick[int64](g, 100, 500, 900, 1300, 1900, 2600), "memory": int64(1+g.IntN(40)) * (100 << 20)},
	}
	if g.chance(0.4) {
		s.Tolerations = []model.Toleration{{Key: "example.com/dedicated", Exists: true}}
	}
	if g.chance(0.1) {
		s.NodeSelector = map[string]string{labelZone: pick(g, "us-west-2a", "us-west-2b")}
	}
	if g.chance(0.1) {
		s.Affinity = []model.Term{{{Key: labelCapacityType, Operator: model.NotIn, Values: []string{"spot"}}}}
	}
	if g.chance(0.1) {
		s.HostPorts = []model.HostPort{{Protocol: "TCP", Port: 8080}}
	}
	who := model.PodSelector{Namespaces: []string{"a"}, Labels: []model.Requirement{pick(g,
		model.Requirement{Key: "app", Operator: model.In, Values: []string{s.Labels["app"]}},
		model.Requirement{Key: "app", Operator: model.In, Values: []string{s.Labels["app"]}},
		model.Requirement{Key: "tier", Operator: model.In, Values: []string{"web"}},
		model.Requirement{Key: "app", Operator: model.In, Values: []string{"app-0", "app-1"}})}}
	if g.chance(0.5) {
		s.Spread = []model.Spread{{
			Key: pick(g, labelHostname, labelZone, labelZone, labelZone, labelCapacityType), MaxSkew: pick[int32](g, 1, 1, 2, 3), MinDomains: pick[int32](g, 1, 1, 1, 3),
			Selector: who, IgnoreAffinity: g.chance(0.2), HonorTaints: g.chance(0.2),
		}}
	}
	if g.chance(0.25) {
		s.PodAntiAffinity = []model.PodTerm{{Key: pick(g, labelHostname, labelHostname, labelZone), Selector: who}}
	}
	if g.chance(0.15) {
		s.PodAffinity = []model.PodTerm{{Key: pick(g, labelHostname, labelZone), Selector: who}}
	}
	return s
}
