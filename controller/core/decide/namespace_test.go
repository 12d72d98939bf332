package decide

import (
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
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
		message string
	}{
		"room for all": {reason: "eight pods of a quarter of a 0.20 $/h node fit under 0.41", usd: 0.41},
		"room for three": {
			reason: "each pod's share costs 0.05 $/h at worst", usd: 0.16, waiting: 5,
			message: "policy shop-budget caps namespace shop at 0.16 $/h, which leaves 0.1600 $/h, of which pods before it take 0.1350 $/h; the pod's share of a new node costs 0.0450 $/h",
		},
		"no room": {
			reason: "nothing of the namespace is launched for", usd: 0, waiting: 8,
			message: "policy shop-budget caps namespace shop at 0.00 $/h, which leaves 0.0000 $/h; the pod's share of a new node costs 0.0450 $/h",
		},
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
				if tc.message != "" && r.Message != tc.message {
					t.Errorf("%s: pod %s waits: %s", tc.reason, s.Pods[u.Pod].Key(), r.Message)
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

// TestNamespaceRoomIsGivenOutOnce: what a decision gives to one it does not give to
// another, and what a pod pays already it need not have room for.
func TestNamespaceRoomIsGivenOutOnce(t *testing.T) {
	node := func(state model.NodeState, cpu int64, price model.Price) model.Node {
		return model.Node{
			Name: "n", Claim: "n", Pool: 0, State: state, Price: price, LaunchedAt: snapshot(0).Time,
			Allocatable: model.Resources{model.CPU: cpu, model.Memory: 16 << 30, model.PodSlots: 1},
		}
	}
	for name, tc := range map[string]struct {
		reason  string
		usd     float64
		change  func(*model.Snapshot)
		waiting int
	}{
		"existing": {
			reason: "the first pod takes a node that is there, for 0.20 $/h; the other's share of 0.05 is above what that leaves",
			usd:    0.24, waiting: 1,
			change: func(s *model.Snapshot) { s.Nodes = []model.Node{node(model.Initialized, 1000, 200_000)} },
		},
		"existing, and room": {
			reason: "0.26 are for both", usd: 0.26,
			change: func(s *model.Snapshot) { s.Nodes = []model.Node{node(model.Initialized, 1000, 200_000)} },
		},
		"going": {
			reason: "of a node that goes its pod holds 0.05 $/h, which the next place costs, too; the other has no room",
			usd:    0.05, waiting: 1,
			change: func(s *model.Snapshot) {
				s.Nodes, s.Pods[1].Node = []model.Node{node(model.Deleting, 4000, 200_000)}, 0
			},
		},
		"interrupted": {
			reason: "what EC2 takes back has left the sum, and one of the two gets the room",
			usd:    0.051, waiting: 1,
			change: func(s *model.Snapshot) {
				s.Nodes, s.Pods[1].Node = []model.Node{node(model.Deleting, 1000, 900_000)}, 0
				s.Nodes[0].Noticed = true
			},
		},
		"going, dearer": {
			reason: "the difference counts: 0.05 $/h less 0.01",
			usd:    0.03, waiting: 2,
			change: func(s *model.Snapshot) {
				s.Nodes, s.Pods[1].Node = []model.Node{node(model.Deleting, 4000, 40_000)}, 0
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(2)
			tc.change(s)
			d := decideOn(t, s, Options{}, caps(map[string]policy.Cap{"namespace/shop": {HourlyUSD: &tc.usd}}))
			if len(d.Plan.Unplaced) != tc.waiting {
				t.Errorf("%s: %d pods wait, want %d: %+v", tc.reason, len(d.Plan.Unplaced), tc.waiting, d.Plan)
			}
		})
	}
}

// TestPlansLeaveReplacementsTheRest: a replacement gets no room under a namespace's
// cap that pods of the same decision have taken.
func TestPlansLeaveReplacementsTheRest(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		usd      float64
		commands int
	}{
		"rest": {reason: "0.901 run, a pod goes to a node for 0.05, and the replacement costs 0.089 more", usd: 1.0},
		"room": {reason: "0.149 are enough for both", usd: 1.05, commands: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := used()
			s.Nodes[0].Drifted, s.Nodes[0].Price, s.Pods[0].DoNotDisrupt = "NodePoolDrifted", 1000, false
			s.Nodes[1].DoNotDisrupt = true
			s.Nodes[1].Allocatable = model.Resources{model.CPU: 1000, model.Memory: 1 << 30, model.PodSlots: 1}
			s.Nodes = append(s.Nodes, s.Nodes[1])
			s.Nodes[2].Name, s.Nodes[2].Claim, s.Nodes[2].Price = "spare", "spare", 50_000
			s.Pods = append(s.Pods, model.Pod{UID: "new", Namespace: "shop", Name: "web-new", Node: -1})
			d := decideOn(t, s, Options{Disrupt: true, Search: true}, caps(map[string]policy.Cap{"namespace/shop": {HourlyUSD: &tc.usd}}))
			if len(d.Plan.Existing) != 1 || len(d.Commands) != tc.commands {
				t.Errorf("%s: %d on nodes that are there, %d commands: %+v", tc.reason, len(d.Plan.Existing), len(d.Commands), d.Disruptions)
			}
		})
	}
}

// TestNamespaceScarceRoom: what a namespace's cap leaves goes to its pods of higher
// priority, and on the cheaper offering before none.
func TestNamespaceScarceRoom(t *testing.T) {
	s := snapshot(2)
	s.Specs = append(s.Specs, s.Specs[0])
	s.Specs[0].Requests = model.Resources{model.CPU: 4000, model.Memory: 1 << 30, model.PodSlots: 1}
	s.Specs[1].Requests, s.Specs[1].Priority = s.Specs[0].Requests, 1000
	s.Pods[1].Spec = 1
	d := decideOn(t, s, Options{}, caps(map[string]policy.Cap{"namespace/shop": {HourlyUSD: new(0.19)}}))
	if len(d.Plan.Nodes) != 1 || len(d.Plan.Nodes[0].Pods) != 1 || d.Plan.Nodes[0].Pods[0] != 1 || len(d.Plan.Unplaced) != 1 {
		t.Fatalf("the pod of higher priority gets no node, or both do: %+v", d.Plan)
	}
	for _, o := range d.Plan.Nodes[0].Options {
		if o.InstanceType != "c.large" {
			t.Errorf("may be launched as %s at %s $/h, above the cap of 0.19", o.InstanceType, o.Price)
		}
	}
	s.Pools[0].Requirements = append(s.Pools[0].Requirements, model.Requirement{Key: "node.kubernetes.io/instance-type", Operator: model.Exists, MinValues: 2})
	if d := decideOn(t, s, Options{}, caps(map[string]policy.Cap{"namespace/shop": {HourlyUSD: new(0.19)}})); len(d.Plan.Nodes) != 0 {
		t.Errorf("a pool that wants two instance types gets %+v", d.Plan.Nodes)
	}
}
