package disrupt

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// TestMoveCost: what the moves of a node's pods have to save.
func TestMoveCost(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		change func(*model.Snapshot)
		want   float64
	}{
		"none":          {reason: "nobody has set a price", change: func(s *model.Snapshot) { s.Settings.MoveCost = 0 }},
		"cluster":       {reason: "two pods at the cluster's price", change: func(*model.Snapshot) {}, want: 0.002},
		"pool":          {reason: "the pool's price takes its place", change: func(s *model.Snapshot) { s.Pools[0].Disruption.MoveCost = new(model.Price(5000)) }, want: 0.01},
		"pool, free":    {reason: "also where that is nothing", change: func(s *model.Snapshot) { s.Pools[0].Disruption.MoveCost = new(model.Price(0)) }},
		"no pool":       {reason: "its NodePool is gone", change: func(s *model.Snapshot) { s.Nodes[0].Pool = -1 }, want: 0.002},
		"deletion cost": {reason: "a pod that may as well be deleted", change: func(s *model.Snapshot) { s.Pods[0].DeletionCost = -1 << 27 }, want: 0.001},
		"slow":          {reason: "two minutes to start are worth two pods, for both", change: func(s *model.Snapshot) { s.Pods[0].StartUp = 120 }, want: 0.006},
		"daemon":        {reason: "its pods do not move", change: func(s *model.Snapshot) { s.Pods[0].Daemon, s.Pods[1].Daemon = true, true }},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Time: now, Settings: model.Settings{MoveCost: 1000}, Nodes: []model.Node{{Name: "one"}}, Pools: []model.Pool{{Name: "general"}},
				Specs: []model.PodSpec{{Namespace: "shop"}}, Pods: []model.Pod{{Name: "a"}, {Name: "b"}},
			}
			tc.change(s)
			if got := NewSurvey(s, nil).MoveCost(0); got < tc.want-1e-12 || got > tc.want+1e-12 {
				t.Errorf("%s: %g, want %g", tc.reason, got, tc.want)
			}
		})
	}
}

// TestMovesPay: nothing moves for a saving below the price of the moves. Each of the three
// nodes costs 0.1 $/h and has one pod.
func TestMovesPay(t *testing.T) {
	now := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	half := model.Resources{model.CPU: 1000, model.Memory: 1 << 30, model.PodSlots: 100}
	for name, tc := range map[string]struct {
		reason string
		change func(*model.Snapshot)
		want   []string
	}{
		"pays":       {reason: "a node costs more than the move of a pod", change: func(s *model.Snapshot) { s.Settings.MoveCost = 99_000 }, want: []string{"in-a", "in-c"}},
		"does not":   {reason: "the move is as dear as the node", change: func(s *model.Snapshot) { s.Settings.MoveCost = 100_000 }},
		"one does":   {reason: "a pod that may as well be deleted", change: func(s *model.Snapshot) { s.Settings.MoveCost, s.Pods[1].DeletionCost = 100_000, -1<<26 }, want: []string{"in-b"}},
		"replacing":  {reason: "a smaller node saves 0.03 $/h", change: smaller(half, 20_000), want: []string{"in-a"}},
		"too little": {reason: "a smaller node saves no more than the move costs", change: smaller(half, 30_000)},
	} {
		t.Run(name, func(t *testing.T) {
			s := spread3(now)
			tc.change(s)
			if diff := cmp.Diff(tc.want, removed(t, s)); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// smaller leaves one node and offers half of it for 0.07 $/h.
func smaller(room model.Resources, moveCost model.Price) func(*model.Snapshot) {
	return func(s *model.Snapshot) {
		s.Nodes, s.Pods, s.Settings.MoveCost = s.Nodes[:1], s.Pods[:1], moveCost
		half := s.Catalogs[0].Types[0]
		half.Name, half.Allocatable, half.Capacity, half.Offerings = "half", room, room, half.Offerings[:1:1]
		half.Offerings = []model.Offering{half.Offerings[0]}
		half.Offerings[0].Price = model.PriceOf(0.07)
		s.Catalogs[0].Types = append(s.Catalogs[0].Types, half)
	}
}

// TestNotWorthMoving: the reason has the figures.
func TestNotWorthMoving(t *testing.T) {
	s := spread3(time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC))
	s.Settings.MoveCost = 100_000
	v := NewSurvey(s, nil)
	want := "at most 0.1000 $/h could be saved, and moving 2 pods costs 0.2000 $/h: not worth it"
	if got := v.notWorthMoving("at most ", 0.1, []int32{0, 1}); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}
