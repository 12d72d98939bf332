package disrupt

import (
	"testing"
	"time"

	"spokeshave.dev/controller/model"
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
