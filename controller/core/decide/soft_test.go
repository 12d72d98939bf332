package decide

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// caps is a ceiling policy with the caps given.
func caps(of map[string]policy.Cap) *scripted {
	return &scripted{
		info:    policy.Info{Name: "budget", Hooks: []policy.Hook{policy.HookCeiling}},
		ceiling: func(*policy.CeilingInput) policy.CeilingAnswer { return policy.CeilingAnswer{Caps: of} },
	}
}

func TestSoftCap(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		cap      policy.Cap
		warns    string
		left     model.Price
		toCap    int64
		launched int
	}{
		"reached": {
			reason: "it warns, and lets through",
			cap:    policy.Cap{HourlyUSD: new(0.1), Soft: true}, warns: "soft cap of policy budget on cluster is reached: 0.10 $/h", toCap: -1, launched: 1,
		},
		"room": {
			reason: "nothing to warn of",
			cap:    policy.Cap{HourlyUSD: new(1.0), Soft: true}, left: 800_000, toCap: -1, launched: 1,
		},
		"month": {
			reason: "at 0.2 $/h there are 10 hours in 2 dollars",
			cap:    policy.Cap{MonthlyUSD: new(50.0), Soft: true}, warns: "soft cap of policy budget on cluster will be reached this month: 50.00 $/month", toCap: 36_000, launched: 1,
		},
		"hard": {
			reason: "the same cap, hard, launches nothing",
			cap:    policy.Cap{HourlyUSD: new(0.1)}, toCap: -1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(1)
			s.Nodes = []model.Node{{Name: "n", Claim: "n", Pool: 0, State: model.Deleting, Price: 200_000, LaunchedAt: s.Time.AddDate(0, 0, -9), InstanceType: "m.large"}}
			s.Spent = []model.Spent{{Scope: "cluster", Micro: 48_000_000}}
			d := decideOn(t, s, Options{}, caps(map[string]policy.Cap{"cluster": tc.cap}))
			if len(d.Plan.Nodes) != tc.launched || strings.Join(d.Warnings, "\n") != tc.warns {
				t.Errorf("%s: %d nodes, warnings %q", tc.reason, len(d.Plan.Nodes), d.Warnings)
			}
			if len(d.Headroom) != 1 || d.Headroom[0].Left != tc.left || d.Headroom[0].SecondsToCap != tc.toCap || d.Headroom[0].Soft != tc.cap.Soft || d.Headroom[0].Burn != 200_000 {
				t.Errorf("%s: headroom %+v", tc.reason, d.Headroom)
			}
		})
	}
}

// TestCapsAreWatched: how near the caps are is known also when nothing is bought.
func TestCapsAreWatched(t *testing.T) {
	d := decideOn(t, snapshot(0), Options{Disrupt: true}, caps(map[string]policy.Cap{"cluster": {HourlyUSD: new(1.0)}}))
	if len(d.Headroom) != 1 || d.Headroom[0].Left != 1_000_000 {
		t.Errorf("headroom %+v", d.Headroom)
	}
}

// TestScarceHeadroom: when a cap leaves room for some, those of higher priority
// get it, on the offering that fits under it even if a dearer one ranks first.
func TestScarceHeadroom(t *testing.T) {
	s := snapshot(2)
	s.Specs = append(s.Specs, s.Specs[0])
	s.Specs[0].Requests = model.Resources{model.CPU: 4000, model.Memory: 1 << 30, model.PodSlots: 1}
	s.Specs[1].Requests, s.Specs[1].Priority = s.Specs[0].Requests, 1000
	s.Pods[1].Spec = 1
	d := decideOn(t, s, Options{}, avoid("c"), caps(map[string]policy.Cap{"cluster": {HourlyUSD: new(0.19)}}))
	if len(d.Plan.Nodes) != 1 || len(d.Plan.Nodes[0].Pods) != 1 || d.Plan.Nodes[0].Pods[0] != 1 {
		t.Fatalf("the pod of higher priority gets no node: %+v", d.Plan)
	}
	if got := d.Plan.Nodes[0].Options[0].InstanceType; got != "c.large" {
		t.Errorf("launches %s at 0.20 $/h above the cap of 0.19; c.large costs 0.18", got)
	}
	if len(d.Plan.Unplaced) != 1 || d.Plan.Unplaced[0].Reasons[0].Code != model.CeilingReached {
		t.Errorf("the other one: %+v", d.Plan.Unplaced)
	}
}

// TestUrgentBeforeMany: short headroom goes to the pod of higher priority, though it
// would buy more of the others.
func TestUrgentBeforeMany(t *testing.T) {
	s := snapshot(5)
	urgent := s.Specs[0]
	urgent.Requests, urgent.Priority = model.Resources{model.CPU: 2500, model.Memory: 1 << 30, model.PodSlots: 1}, 1000
	s.Specs = append(s.Specs, urgent)
	s.Specs[0].Requests = model.Resources{model.CPU: 2000, model.Memory: 1 << 30, model.PodSlots: 1}
	s.Pods[4].Spec = 1
	for _, usd := range []float64{0.19, 0.37} {
		d := decideOn(t, s, Options{}, caps(map[string]policy.Cap{"cluster": {HourlyUSD: &usd}}))
		placed := map[int32]bool{}
		for i := range d.Plan.Nodes {
			for _, p := range d.Plan.Nodes[i].Pods {
				placed[p] = true
			}
		}
		if !placed[4] || len(d.Plan.Unplaced) == 0 {
			t.Errorf("%.2f $/h: %v are placed, and not the urgent one, or nothing was scarce", usd, placed)
		}
	}
}

// TestCheaperBeforeNone: when the offerings that rank first leave pods waiting
// under a cap, cheaper ones are taken for all.
func TestCheaperBeforeNone(t *testing.T) {
	s := snapshot(2)
	s.Specs[0].Requests = model.Resources{model.CPU: 4000, model.Memory: 1 << 30, model.PodSlots: 1}
	d := decideOn(t, s, Options{}, avoid("c"), caps(map[string]policy.Cap{"cluster": {HourlyUSD: new(0.37)}}))
	if diff := cmp.Diff(map[string]int{"c": 2}, families(&d)); diff != "" || len(d.Plan.Unplaced) > 0 {
		t.Errorf("two nodes at 0.18 $/h fit under 0.37, one at 0.20 and another do not: -want +got\n%s", diff)
	}
	if d := decideOn(t, s, Options{}, avoid("c")); families(&d)["m"] != 2 {
		t.Errorf("without a cap those that rank first are taken: %v", families(&d))
	}
}

// TestNoticeIsNotFrozen: the pods of an instance that EC2 takes back get another one
// under a full cap, of the hour or of the month; those of one that we take away wait
// until it is gone.
func TestNoticeIsNotFrozen(t *testing.T) {
	for name, tc := range map[string]struct {
		cap     policy.Cap
		noticed bool
		want    int
	}{
		"hour":           {policy.Cap{HourlyUSD: new(0.2)}, true, 1},
		"month":          {policy.Cap{MonthlyUSD: new(1 + 0.2*495)}, true, 1}, // 495 hours are left
		"hour, drained":  {policy.Cap{HourlyUSD: new(0.2)}, false, 0},
		"month, drained": {policy.Cap{MonthlyUSD: new(1 + 0.2*495)}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(1)
			s.Nodes = []model.Node{{
				Name: "n", Claim: "n", Pool: 0, State: model.Deleting, Price: 200_000, LaunchedAt: s.Time.Add(-time.Hour), Noticed: tc.noticed,
				Allocatable: s.Catalogs[0].Types[0].Allocatable,
			}}
			s.Spent = []model.Spent{{Scope: "cluster", Micro: 1_000_000}}
			s.Pods[0].Node = 0
			if d := decideOn(t, s, Options{}, caps(map[string]policy.Cap{"cluster": tc.cap})); len(d.Plan.Nodes) != tc.want {
				t.Errorf("%d nodes are launched, want %d: %+v, %+v", len(d.Plan.Nodes), tc.want, d.Plan.Unplaced, d.Headroom)
			}
		})
	}
}
