package solver

import (
	"slices"
	"testing"

	"spokeshave.dev/controller/core/model"
)

// TestMoreRoomNeverUnplaces adds an empty node to random clusters: every pod that
// had a place without it has one with it, as long as nodes can be launched for
// it. Three things are left out, because there it need not be so: pods that only
// nodes at hand can take, onto which they are put first fit; limits, under which
// placing other pods first may use up what is left; and what pods ask of each
// other, where a node brings domains of its own, which spread counts as empty.
func TestMoreRoomNeverUnplaces(t *testing.T) {
	used := 0
	for seed := range seeds(200) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(100))
		for i := range in.Snapshot.Pools {
			in.Snapshot.Pools[i].Limits, in.Snapshot.Pools[i].NotReady = nil, ""
		}
		before, _ := Solve(in)
		room := in.Snapshot.Catalogs[0].Types[g.IntN(len(in.Snapshot.Catalogs[0].Types))]
		more := *in.Snapshot
		more.Nodes = append(slices.Clip(more.Nodes), model.Node{
			Name: "more", State: model.Unmanaged, Pool: -1, Labels: room.Labels, Zone: "us-west-2b", Allocatable: room.Allocatable,
		})
		in.Snapshot = &more
		after, _ := Solve(in)
		hold(t, seed, &in, &after)
		launched := map[int32]bool{}
		for i := range before.Nodes {
			for _, p := range before.Nodes[i].Pods {
				launched[p] = true
			}
		}
		for _, u := range after.Unplaced {
			if launched[u.Pod] {
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
