package solver

import (
	"testing"

	"spokeshave.dev/controller/model"
)

// TestMoreRoomNeverUnplaces adds an empty node to random clusters: every pod that
// had a place without it has one with it. Two things are left out, because there
// it need not be so: limits, under which placing other pods first may use up
// what is left; and what pods ask of each other, where a node brings domains of
// its own, which spread constraints count as empty.
func TestMoreRoomNeverUnplaces(t *testing.T) {
	used := 0
	for seed := range seeds(200) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(100))
		for i := range in.Snapshot.Pools {
			in.Snapshot.Pools[i].Limits = nil
		}
		before, _ := Solve(in)
		room := in.Snapshot.Catalogs[0].Types[g.IntN(len(in.Snapshot.Catalogs[0].Types))]
		more := *in.Snapshot
		more.Nodes = append(more.Nodes[:len(more.Nodes):len(more.Nodes)], model.Node{
			Name: "more", State: model.Unmanaged, Pool: -1, Labels: room.Labels, Zone: "us-west-2b", Allocatable: room.Allocatable,
		})
		in.Snapshot = &more
		after, _ := Solve(in)
		hold(t, seed, &in, &after)
		had := map[int32]bool{}
		for _, u := range before.Unplaced {
			had[u.Pod] = true
		}
		for _, u := range after.Unplaced {
			if !had[u.Pod] {
				t.Errorf("seed %d: %s had a place before there was more room: %v", seed, in.Snapshot.Pods[u.Pod].Key(), u.Reasons)
			}
		}
		for i := range after.Existing {
			if int(after.Existing[i].Node) == len(more.Nodes)-1 {
				used++
			}
		}
	}
	if used == 0 {
		t.Error("no plan uses the node that was added")
	}
}
