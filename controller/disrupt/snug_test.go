package disrupt

import (
	"fmt"
	"testing"

	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/solver"
)

// TestSnug: a node that stays has as much cpu left as the large pods want, and far
// more memory. Filled with the large ones it wastes the memory, and the small ones
// need a dear node of their own; filled evenly it leaves the large ones for a cheap
// node.
func TestSnug(t *testing.T) {
	room := func(cpu, gib int64) model.Resources {
		return model.Resources{model.CPU: cpu, model.Memory: gib << 30, model.PodSlots: 1000}
	}
	kind := func(name string, cpu, gib int64, usd float64) model.InstanceType {
		return model.InstanceType{
			Name: name, Arch: "amd64", OS: "linux", Capacity: room(cpu, gib), Allocatable: room(cpu, gib),
			Offerings: []model.Offering{{Zone: "a", CapacityType: model.OnDemand, Price: model.PriceOf(usd), Available: true}},
		}
	}
	want := func(cpu, gib int64) model.PodSpec {
		return model.PodSpec{Namespace: "shop", Labels: map[string]string{"app": fmt.Sprint(cpu)}, Requests: model.Resources{model.CPU: cpu, model.Memory: gib << 30, model.PodSlots: 1}}
	}
	node := func(name string, usd float64, has model.Resources) model.Node {
		return model.Node{Name: name, Claim: name, State: model.Initialized, Zone: "a", CapacityType: model.OnDemand, Price: model.PriceOf(usd), Allocatable: has}
	}
	s := &model.Snapshot{
		Catalogs: []model.Catalog{{NodeClass: "default", Generation: 1, Types: []model.InstanceType{kind("cpu", 100_000, 100, 1), kind("memory", 100_000, 800, 3)}}},
		Pools:    []model.Pool{{Name: "general", NodeClass: "default"}},
		Specs:    []model.PodSpec{want(1000, 0), want(250, 2)},
		Nodes:    []model.Node{node("goes", 10, room(400_000, 3200)), node("stays", 1, room(100_000, 800))},
	}
	for i := range 500 { // either kind wants as much cpu as stays has
		spec := int32(0)
		if i >= 100 {
			spec = 1
		}
		s.Pods = append(s.Pods, model.Pod{UID: fmt.Sprint(i), Namespace: "shop", Name: fmt.Sprint(i), Spec: spec, Node: 0})
	}
	in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 1), Costs: make([]solver.Costs, 1), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
	sc := NewScene(NewSurvey(s, nil), &in, nil)
	sc.Trusting = true
	plain := sc.Replace(Underutilized, []int32{0})
	if plain == nil || plain.Added < 2 {
		t.Fatalf("the solver does it by itself now, at %v $/h: is this still of use?", plain)
	}
	p := sc.Consolidate([]int32{0})
	if p == nil || len(p.Sim.Plan.Nodes) != 1 || p.Sim.Plan.Nodes[0].Options[0].InstanceType != "cpu" {
		t.Fatalf("proposed %+v, want one node of type cpu", p)
	}
	seen := map[int32]int{}
	for _, a := range p.Sim.Plan.Existing {
		for _, i := range a.Pods {
			seen[i]++
		}
	}
	for _, i := range p.Sim.Plan.Nodes[0].Pods {
		seen[i]++
	}
	for i := range s.Pods {
		if seen[int32(i)] != 1 {
			t.Errorf("pod %d has %d places", i, seen[int32(i)])
		}
	}

	s.Specs[1].Spread = []model.Spread{{MaxSkew: 400, Key: "kubernetes.io/hostname"}}
	if q := sc.snug(plain); q != nil {
		t.Error("pods that spread were placed by requests alone")
	}
}
