package decide

import (
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// TestNamespaceCapCountsWholeNodes: pods that request nearly nothing and want a node
// each open no more nodes than the cap of their namespace has room for.
func TestNamespaceCapCountsWholeNodes(t *testing.T) {
	term := model.PodTerm{Key: "kubernetes.io/hostname", Selector: model.PodSelector{Namespaces: []string{"shop"}}}
	for name, tc := range map[string]struct {
		reason string
		change func(*model.Snapshot)
		want   int
	}{
		"anti-affinity": {reason: "three of four nodes of at most 0.20 $/h have room under 0.70", change: func(s *model.Snapshot) {
			s.Specs[0].PodAntiAffinity = []model.PodTerm{term}
		}, want: 3},
		"preferred": {reason: "a preference opens nodes too", change: func(s *model.Snapshot) {
			s.Specs[0].PreferredApart = []model.WeightedPodTerm{{Weight: 100, Term: term}}
		}, want: 3},
		"host ports": {reason: "so do host ports", change: func(s *model.Snapshot) { s.Specs[0].HostPorts = []model.HostPort{{Port: 80, Protocol: "TCP"}} }, want: 3},
		"pod slots": {reason: "a slot of two is half a node: seven pods have room", change: func(s *model.Snapshot) {
			for i := range s.Catalogs[0].Types {
				s.Catalogs[0].Types[i].Allocatable[model.PodSlots] = 2
			}
		}, want: 4},
		"a large type": {reason: "0.70 $/h is less than the large node costs that one of them asks for", change: func(s *model.Snapshot) {
			s.Catalogs[0].Types = append(s.Catalogs[0].Types, instanceType("x.metal", "x", 400_000, 90_000_000))
			s.Specs[0].NodeSelector = map[string]string{"node.kubernetes.io/instance-type": "x.metal"}
		}, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(10)
			s.Specs[0].Requests = model.Resources{model.CPU: 1, model.Memory: 1 << 20, model.PodSlots: 1}
			s.Specs[0].Labels = map[string]string{"app": "web"}
			tc.change(s)
			d := decideOn(t, s, Options{}, &scripted{
				info: policy.Info{Name: "shop-budget", Hooks: []policy.Hook{policy.HookCeiling}},
				ceiling: func(*policy.CeilingInput) policy.CeilingAnswer {
					return policy.CeilingAnswer{Caps: map[string]policy.Cap{"namespace/shop": {HourlyUSD: new(0.70)}}}
				},
			})
			if len(d.Plan.Nodes) != tc.want {
				t.Errorf("%s: %d nodes, want %d", tc.reason, len(d.Plan.Nodes), tc.want)
			}
			for _, u := range d.Plan.Unplaced {
				if u.Reasons[0].Code != model.CeilingReached || u.Reasons[0].Policy != "shop-budget" {
					t.Errorf("%s: %+v", tc.reason, u.Reasons[0])
				}
			}
		})
	}
}
