package decide

import (
	"testing"

	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/policy"
)

func TestNamespaceCap(t *testing.T) {
	budget := func(usd float64) *scripted {
		return &scripted{
			info: policy.Info{Name: "shop-budget", Hooks: []policy.Hook{policy.HookCeiling}},
			ceiling: func(*policy.CeilingInput) policy.CeilingAnswer {
				return policy.CeilingAnswer{Caps: map[string]policy.Cap{"namespace/shop": {HourlyUSD: &usd}}}
			},
		}
	}
	for name, tc := range map[string]struct {
		reason  string
		usd     float64
		running model.Price
		waiting int
	}{
		"room for all":       {reason: "eight pods of a quarter of a 0.20 $/h node fit under 0.41", usd: 0.41},
		"room for three":     {reason: "each pod's share costs 0.05 $/h at worst", usd: 0.16, waiting: 5},
		"no room":            {reason: "nothing of the namespace is launched for", usd: 0, waiting: 8},
		"some of it is used": {reason: "what runs counts by its share: half of a 0.20 $/h node", usd: 0.26, running: 200_000, waiting: 5},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(8)
			other := s.Specs[0]
			other.Namespace = "batch"
			other.Priority = -1
			s.Specs = append(s.Specs, other)
			for _, pod := range []string{"x", "y", "z"} {
				s.Pods = append(s.Pods, model.Pod{UID: pod, Namespace: "batch", Name: pod, Spec: 1, Node: -1})
			}
			if tc.running > 0 {
				full := model.Resources{model.CPU: 2000, model.Memory: 16 << 30, model.PodSlots: 2}
				s.Nodes = []model.Node{{Name: "n", Claim: "n", Pool: 0, State: model.Initialized, Allocatable: full, Price: tc.running}}
				s.Pods = append(s.Pods,
					model.Pod{UID: "r", Namespace: "shop", Name: "r", Node: 0},
					model.Pod{UID: "q", Namespace: "batch", Name: "q", Spec: 1, Node: 0})
			}
			d := decideOn(t, s, Options{}, budget(tc.usd))
			if len(d.Plan.Unplaced) != tc.waiting {
				t.Fatalf("%s: %d pods wait, want %d", tc.reason, len(d.Plan.Unplaced), tc.waiting)
			}
			for _, u := range d.Plan.Unplaced {
				r := u.Reasons[0]
				if s.Pods[u.Pod].Namespace != "shop" || r.Code != model.CeilingReached || r.Policy != "shop-budget" {
					t.Errorf("%s: pod %s waits: %+v", tc.reason, s.Pods[u.Pod].Key(), r)
				}
			}
		})
	}
}

// TestNamespaceCapOfReplacements: what replaces a node may not cost a namespace
// more than its cap leaves.
func TestNamespaceCapOfReplacements(t *testing.T) {
	budget := func(usd float64) *scripted {
		return &scripted{
			info: policy.Info{Name: "shop-budget", Hooks: []policy.Hook{policy.HookCeiling}},
			ceiling: func(*policy.CeilingInput) policy.CeilingAnswer {
				return policy.CeilingAnswer{Caps: map[string]policy.Cap{"namespace/shop": {HourlyUSD: &usd}}}
			},
		}
	}
	drifted := func(s *model.Snapshot) { // its pods cost little now: the node was cheap
		s.Nodes[0].Drifted, s.Nodes[0].Price, s.Pods[0].DoNotDisrupt = "NodePoolDrifted", 1000, false
		s.Nodes[1].DoNotDisrupt = true
		s.Nodes[1].Allocatable = model.Resources{model.CPU: 1000, model.Memory: 1 << 30, model.PodSlots: 1}
	}
	for name, tc := range map[string]struct {
		reason string
		change func(*model.Snapshot)
		usd    float64
		want   int
	}{
		"cheaper": {reason: "a full cap does not keep anybody from getting cheaper", change: func(*model.Snapshot) {}, usd: 0.01, want: 1},
		"dearer":  {reason: "a drifted node's replacement costs more than is left", change: drifted, usd: 0.01},
		"room":    {reason: "and less than that", change: drifted, usd: 2, want: 1},
		"uncovered": {reason: "caps of others do not count", change: func(s *model.Snapshot) {
			drifted(s)
			s.Specs[0].Namespace = "else"
			for i := range s.Pods {
				s.Pods[i].Namespace = "else"
			}
		}, usd: 0, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := used()
			tc.change(s)
			d := decideOn(t, s, Options{Disrupt: true, Search: true}, budget(tc.usd))
			if len(d.Commands) != tc.want {
				t.Errorf("%s: %d commands, want %d: %+v", tc.reason, len(d.Commands), tc.want, d.Disruptions)
			}
		})
	}
}
