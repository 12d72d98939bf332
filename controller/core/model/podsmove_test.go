package model

import (
	"testing"
	"time"
)

// TestPodsMove: pods may be on their way from a node that is leaving, and for ten minutes after it
// began to.
func TestPodsMove(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		ago    time.Duration
		pods   int
		state  NodeState // of the node; empty when it is gone
		want   bool
	}{
		"leaving": {reason: "a drain may take long", ago: 50 * time.Minute, pods: 3, state: Deleting, want: true},
		"gone":    {reason: "its pods may not have a node yet", ago: 9 * time.Minute, pods: 3, want: true},
		"long":    {reason: "they had time to get one", ago: 10 * time.Minute, pods: 3},
		"empty":   {reason: "no pod had to leave", ago: time.Minute, state: Deleting},
		"none":    {reason: "no node left", ago: 2 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			s := Snapshot{Time: now, Nodes: []Node{{Claim: "other", State: Initialized}}}
			if tc.ago < time.Hour {
				s.Departed = []Departure{{Claim: "a", Pool: "general", Time: now.Add(-tc.ago), Pods: tc.pods}}
			}
			if tc.state != "" {
				s.Nodes = append(s.Nodes, Node{Claim: "a", State: tc.state})
			}
			if got := s.PodsMove(); got != tc.want {
				t.Errorf("%s: PodsMove = %v", tc.reason, got)
			}
		})
	}
}
