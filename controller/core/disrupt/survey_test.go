package disrupt

import (
	"testing"
	"time"

	"spokeshave.dev/controller/core/model"
)

// TestCost: what the disruption of a node counts for.
func TestCost(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		change func(*model.Snapshot)
		want   float64
	}{
		"plain":         {reason: "each pod counts one", want: 2, change: func(*model.Snapshot) {}},
		"daemon":        {reason: "a DaemonSet's pod is not disrupted", want: 1, change: func(s *model.Snapshot) { s.Pods[0].Daemon = true }},
		"ending":        {reason: "a pod that goes anyhow", want: 1, change: func(s *model.Snapshot) { s.Pods[0].Ending = true }},
		"priority":      {reason: "2^25 are worth a pod", want: 4, change: func(s *model.Snapshot) { s.Specs[0].Priority = 1 << 25 }},
		"deletion cost": {reason: "2^27 are worth a pod", want: 1.5, change: func(s *model.Snapshot) { s.Pods[1].DeletionCost = -1 << 26 }},
		"start":         {reason: "a minute to start is worth a pod, also for those that have not started yet", want: 4, change: func(s *model.Snapshot) { s.Pods[0].StartUp = 60 }},
		"fastest":       {reason: "the least that any pod of the spec took", want: 3, change: func(s *model.Snapshot) { s.Pods[0].StartUp, s.Pods[1].StartUp = 3000, 30 }},
		"most":          {reason: "no pod is worth more than ten", want: 20, change: func(s *model.Snapshot) { s.Pods[0].StartUp = 3600 }},
		"old": {reason: "half of its time is over", want: 1, change: func(s *model.Snapshot) {
			s.Nodes[0].LaunchedAt, s.Nodes[0].ExpiresAt = now.Add(-time.Hour), now.Add(time.Hour)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Time: now, Nodes: []model.Node{{Name: "one"}}, Specs: []model.PodSpec{{Namespace: "shop"}},
				Pods: []model.Pod{{Name: "a"}, {Name: "b"}},
			}
			tc.change(s)
			if got := NewSurvey(s, nil).Cost(0); got != tc.want {
				t.Errorf("%s: %g, want %g", tc.reason, got, tc.want)
			}
		})
	}
}

// TestExcused: a node that is no candidate says why, and one that says nothing is
// a candidate.
func TestExcused(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	replicas := int64(1)
	for name, tc := range map[string]struct {
		reason string
		change func(*model.Snapshot)
		want   string
	}{
		"idle":     {reason: "nothing keeps it", change: func(*model.Snapshot) {}},
		"leaving":  {reason: "it goes already", want: "it is on its way out", change: func(s *model.Snapshot) { s.Nodes[0].State = model.Deleting }},
		"foreign":  {reason: "not ours to take", want: "it has no NodeClaim", change: func(s *model.Snapshot) { s.Nodes[0].Claim = "" }},
		"booting":  {reason: "nothing is known of its use", want: "it is not initialized yet", change: func(s *model.Snapshot) { s.Nodes[0].State = model.Registered }},
		"orphan":   {reason: "nobody says how it may go", want: "its NodePool does not exist", change: func(s *model.Snapshot) { s.Nodes[0].Pool = -1 }},
		"expected": {reason: "pods are about to come", want: "pods that need a place are expected on it", change: func(s *model.Snapshot) { s.Nodes[0].Nominated = true }},
		"static":   {reason: "its nodes are there without pods", want: "the NodePool is static", change: func(s *model.Snapshot) { s.Pools[0].Replicas = &replicas }},
		"drifted":  {reason: "a drifted one of them is replaced", change: func(s *model.Snapshot) { s.Pools[0].Replicas, s.Nodes[0].Drifted = &replicas, "NodePoolDrifted" }},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Time: now, Pools: []model.Pool{{Name: "general"}},
				Nodes: []model.Node{{Name: "one", Claim: "general-1", State: model.Initialized, LaunchedAt: now.Add(-time.Hour)}},
			}
			tc.change(s)
			v := NewSurvey(s, nil)
			got := v.Excused(0)
			if got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
			if _, _, ok := v.Candidate(0); ok != (got == "") {
				t.Errorf("%s: candidate %t, excused by %q", tc.reason, ok, got)
			}
		})
	}
}

// TestProvisionalPrices: while the cloud has not said what it sells, no node with pods is
// compared by price, and empty and drifted ones go as ever.
func TestProvisionalPrices(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		change func(*model.Snapshot)
		kept   bool
	}{
		"underutilized": {"its price would be compared with old ones", func(*model.Snapshot) {}, true},
		"empty":         {"no price is needed", func(s *model.Snapshot) { s.Pods = nil }, false},
		"drifted":       {"it is replaced whatever that costs", func(s *model.Snapshot) { s.Nodes[0].Drifted = "AMIDrift" }, false},
		"known":         {"the cloud has said it", func(s *model.Snapshot) { s.Catalogs[0].Provisional = false }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Time: now, Pools: []model.Pool{{Name: "general"}}, Catalogs: []model.Catalog{{NodeClass: "default", Provisional: true}},
				Nodes: []model.Node{{Name: "one", Claim: "general-1", State: model.Initialized, LaunchedAt: now.Add(-time.Hour)}},
				Specs: []model.PodSpec{{Namespace: "shop"}}, Pods: []model.Pod{{Name: "a"}},
			}
			tc.change(s)
			_, block, ok := NewSurvey(s, nil).Candidate(0)
			if !ok || (block != nil) != tc.kept {
				t.Errorf("%s: candidate %t, kept by %+v, want kept %t", tc.reason, ok, block, tc.kept)
			}
		})
	}
}
