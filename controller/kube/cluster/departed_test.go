package cluster

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// TestDepartures: a node whose deletion began is listed once, with the number of pods
// it had then, for an hour.
func TestDepartures(t *testing.T) {
	start := time.Date(2026, 3, 11, 9, 0, 0, 0, time.UTC)
	node := func(claim string, state model.NodeState) model.Node {
		return model.Node{Claim: claim, State: state, LaunchedAt: start.Add(-time.Hour)}
	}
	s := model.Snapshot{
		Time: start, Pools: []model.Pool{{Name: "general"}},
		Nodes: []model.Node{node("a", model.Deleting), node("b", model.Initialized), {Claim: "c", State: model.Deleting}},
		Pods:  []model.Pod{{Node: 0}, {Node: 0, Daemon: true}, {Node: 0}, {Node: 1}, {Node: -1}},
	}
	a := model.Departure{Claim: "a", Pool: "general", Time: start, Pods: 2}
	known := departures(nil, &s)
	if diff := cmp.Diff([]model.Departure{a}, known); diff != "" {
		t.Errorf("the first look -want +got\n%s", diff)
	}
	s.Time, s.Nodes[1].State, s.Pods = start.Add(30*time.Minute), model.Deleting, s.Pods[3:]
	b := model.Departure{Claim: "b", Pool: "general", Time: s.Time, Pods: 1}
	if known = departures(known, &s); !cmp.Equal([]model.Departure{a, b}, known) {
		t.Errorf("half an hour later: %+v", known)
	}
	s.Time, s.Nodes = start.Add(time.Hour), nil
	if known = departures(known, &s); !cmp.Equal([]model.Departure{b}, known) {
		t.Errorf("after an hour: %+v", known)
	}
}
