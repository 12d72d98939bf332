package disrupt

import (
	"fmt"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/instancetype"
)

// snugWorld has a node that stays and has as much cpu left as the large pods want, and
// far more memory. Filled with the large ones it wastes the memory, and the small ones
// need a dear node of their own; filled evenly it leaves the large ones for a cheap
// node.
func snugWorld() *model.Snapshot {
	room := func(cpu, gib int64) model.Resources {
		return model.Resources{model.CPU: cpu, model.Memory: gib << 30, model.PodSlots: 1000}
	}
	kind := func(name string, cpu, gib int64, usd float64) model.InstanceType {
		return instancetype.Of(name, room(cpu, gib), instancetype.OnDemand("a", model.PriceOf(usd)))
	}
	want := func(cpu, gib int64) model.PodSpec {
		return model.PodSpec{Namespace: "shop", Labels: map[string]string{"app": fmt.Sprint(cpu)}, Requests: model.Resources{model.CPU: cpu, model.Memory: gib << 30, model.PodSlots: 1}}
	}
	node := func(name string, usd float64, has model.Resources) model.Node {
		return model.Node{Name: name, Claim: name, State: model.Initialized, Zone: "a", CapacityType: model.OnDemand, Price: model.PriceOf(usd), Allocatable: has}
	}
	s := &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(kind("cpu", 100_000, 100, 1), kind("memory", 100_000, 800, 3))},
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
	return s
}

func snugScene(s *model.Snapshot) *Projection {
	in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 1), Costs: make([]solver.Costs, 1), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
	sc := NewProjection(NewSurvey(s, nil), &in, nil)
	sc.Trusting = true
	return sc
}

// TestBalancedFill: it is filled evenly.
func TestBalancedFill(t *testing.T) {
	s := snugWorld()
	sc := snugScene(s)
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
}

// TestBalancedFillAbstains: what requests alone do not tell is left to the solver.
func TestBalancedFillAbstains(t *testing.T) {
	shop := model.PodSelector{Namespaces: []string{"shop"}}
	loner := func(s *model.Snapshot, node int32) { // a pod that wants nobody of the shop on its node
		s.Specs = append(s.Specs, model.PodSpec{Namespace: "vault", PodAntiAffinity: []model.PodTerm{{Key: "kubernetes.io/hostname", Selector: shop}}})
		s.Pods = append(s.Pods, model.Pod{Namespace: "vault", Name: "loner", Spec: int32(len(s.Specs) - 1), Node: node})
	}
	for name, tc := range map[string]struct {
		reason   string
		change   func(*model.Snapshot)
		balanced bool
	}{
		"as it is": {reason: "requests tell all", change: func(*model.Snapshot) {}, balanced: true},
		"spread": {reason: "pods that spread", change: func(s *model.Snapshot) {
			s.Specs[1].Spread = []model.Spread{{MaxSkew: 400, Key: "kubernetes.io/hostname"}}
		}},
		"loner":     {reason: "a pod that stays keeps others off its node", change: func(s *model.Snapshot) { loner(s, 1) }},
		"elsewhere": {reason: "one without a node keeps nobody off", change: func(s *model.Snapshot) { loner(s, -1) }, balanced: true},
		"preferred": {reason: "a zone is preferred", change: func(s *model.Snapshot) {
			s.Specs[0].Preferred = []model.WeightedTerm{{Weight: 1, Term: model.Term{{Key: "topology.kubernetes.io/zone", Operator: model.In, Values: []string{"b"}}}}}
		}},
		"ignored": {reason: "a preference that is not looked at", balanced: true, change: func(s *model.Snapshot) {
			s.Settings.IgnorePreferences = true
			s.Specs[0].Preferred = []model.WeightedTerm{{Weight: 1, Term: model.Term{{Key: "topology.kubernetes.io/zone", Operator: model.In, Values: []string{"b"}}}}}
		}},
		"unloved": {reason: "pods had better keep off the node", change: func(s *model.Snapshot) {
			s.Nodes[1].Taints = []model.Taint{{Key: "example.com/old", Effect: model.PreferNoSchedule}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := snugWorld()
			tc.change(s)
			sc := snugScene(s)
			if q := (&consolidator{sc}).balancedFill(sc.Replace(Underutilized, []int32{0})); (q != nil) != tc.balanced {
				t.Errorf("%s: placed by requests alone: %v, want %v", tc.reason, q != nil, tc.balanced)
			}
		})
	}
}

// TestBalancedFillExpects: the pod of a DaemonSet that is to come finds its room.
func TestBalancedFillExpects(t *testing.T) {
	for name, there := range map[string]bool{"to come": false, "there": true} {
		t.Run(name, func(t *testing.T) {
			s := snugWorld()
			agent := model.PodSpec{Namespace: "kube-system", Requests: model.Resources{model.CPU: 10_000, model.PodSlots: 1}}
			s.Daemons = []model.DaemonSet{{Namespace: "kube-system", Name: "agent", Spec: agent}}
			taken := int64(10_000)
			if there {
				s.Specs = append(s.Specs, agent)
				s.Pods = append(s.Pods, model.Pod{Namespace: "kube-system", Name: "agent-x1y2z", Spec: 2, Node: 1, Daemon: true})
			}
			sc := snugScene(s)
			q := (&consolidator{sc}).balancedFill(sc.Replace(Underutilized, []int32{0}))
			if q == nil {
				t.Fatal("not placed by requests")
			}
			for _, a := range q.Sim.Plan.Existing {
				for _, i := range a.Pods {
					taken += s.Specs[s.Pods[i].Spec].Requests[model.CPU]
				}
			}
			if all := s.Nodes[1].Allocatable[model.CPU]; taken > all || taken < all-1000 {
				t.Errorf("%d of %d millicores taken, that of the DaemonSet included", taken, all)
			}
		})
	}
}
