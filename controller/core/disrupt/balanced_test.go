package disrupt

import (
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// TestBalanced: approvals are those that Karpenter documents. Pool a has two nodes of
// 1 $/h, one with nine pods and an empty one: 2 $/h and a disruption cost of 11.
func TestBalanced(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		change func(*model.Snapshot)
		nodes  []int32
		saves  float64
		want   bool
	}{
		"enough":     {reason: "2 × 1/2 is above 10/11", nodes: []int32{0}, saves: 1, want: true},
		"too little": {reason: "2 × 0.9/2 is below 10/11", nodes: []int32{0}, saves: 0.9},
		"empty":      {reason: "2 × 0.1/2 is above 1/11", nodes: []int32{1}, saves: 0.1, want: true},
		"nothing":    {reason: "no saving is worth no disruption", nodes: []int32{1}},
		"unasked": {reason: "another policy has no bound", nodes: []int32{0}, saves: 0.01, want: true, change: func(s *model.Snapshot) {
			s.Pools[0].Disruption.Policy = "WhenEmptyOrUnderutilized"
		}},
		"slow start": {reason: "start-up times do not count: 2 × 0.85/2 is above 9/11", nodes: []int32{0}, saves: 0.85, want: true, change: func(s *model.Snapshot) {
			for i := range s.Pods {
				s.Pods[i].StartUp = 600
			}
			s.Pods[0].Node, s.Pods[0].StartUp, s.Pods[0].Spec = 1, 0, 1
			s.Specs = append(s.Specs, model.PodSpec{Namespace: "shop"})
		}},
		"old": {reason: "the time until expiry does not count", nodes: []int32{0}, saves: 0.9, change: func(s *model.Snapshot) {
			s.Nodes[0].LaunchedAt, s.Nodes[0].ExpiresAt = s.Time.Add(-time.Hour), s.Time.Add(time.Minute)
		}},
		"two pools":         {reason: "half of the saving is a's, and 2 × 0.9/2 is below 10/11, whatever b would say", nodes: []int32{0, 2}, saves: 1.8},
		"two pools, enough": {reason: "half of the saving is a's, and 2 × 1/2 is above 10/11", nodes: []int32{0, 2}, saves: 2, want: true},
		"the other's pool": {reason: "b must approve too, and saves a tenth for half of its disruption", nodes: []int32{1, 2}, saves: 0.4, change: func(s *model.Snapshot) {
			s.Pools[1].Disruption.Policy = "Balanced"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			node := func(name string, pool int32) model.Node {
				return model.Node{Name: name, Claim: name, State: model.Initialized, Pool: pool, Price: 1_000_000}
			}
			s := &model.Snapshot{
				Time: time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC),
				Pools: []model.Pool{
					{Name: "a", Catalog: -1, Disruption: model.Disruption{Policy: "Balanced"}},
					{Name: "b", Catalog: -1, Disruption: model.Disruption{Policy: "WhenEmptyOrUnderutilized"}},
				},
				Nodes: []model.Node{node("full", 0), node("idle", 0), node("other", 1), node("second", 1)},
				Specs: []model.PodSpec{{Namespace: "shop"}},
			}
			for i := range 9 {
				s.Pods = append(s.Pods, model.Pod{Namespace: "shop", Name: string(rune('a' + i))})
			}
			if tc.change != nil {
				tc.change(s)
			}
			in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 2), Costs: make([]solver.Costs, 2)}
			if got := NewProjection(NewSurvey(s, nil), &in, nil).balanced(tc.nodes, tc.saves); got != tc.want {
				t.Errorf("%s: approved %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}
