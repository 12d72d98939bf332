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
