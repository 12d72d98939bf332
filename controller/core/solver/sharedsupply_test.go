package solver

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/supply"
)

// TestSharedOfferings solves questions about one cluster after the other, as a
// search does, with shared offerings and without: about other pods, other nodes,
// other pools' usage, with launches denied and with pools blocked.
func TestSharedOfferings(t *testing.T) {
	nodes := 0
	for seed := range seeds(15) {
		g := newGenerator(seed)
		in := g.input(12)
		g.Topology()
		g.policies(&in)
		shared := supply.NewCache()
		for round := range 4 {
			ask := in
			ask.Pods = slices.DeleteFunc(slices.Clone(in.Pods), func(int32) bool { return g.Chance(0.4) })
			switch round % 4 {
			case 1:
				ask.Denied = append(slices.Clone(in.Denied), model.Denied{Pool: 0, Zone: "a"})
			case 2:
				ask.Blocked = make([]*model.Reason, len(in.Snapshot.Pools))
				ask.Blocked[g.IntN(len(ask.Blocked))] = &model.Reason{Code: model.PoolNotReady, Message: "blocked"}
			case 3:
				s := *in.Snapshot
				s.Pools = slices.Clone(s.Pools)
				for i := range s.Pools {
					s.Pools[i].Usage = model.Resources{model.CPU: 1000 * int64(round)}
				}
				ask.Snapshot = &s
			}
			want, _ := Solve(ask)
			ask.Offerings = shared
			got, _ := Solve(ask)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("seed %d, round %d: the plan with shared offerings (-without +with)\n%s", seed, round, diff)
			}
			nodes += len(got.Nodes)
		}
	}
	if nodes == 0 {
		t.Error("no plan launches anything: nothing is compared")
	}
}
