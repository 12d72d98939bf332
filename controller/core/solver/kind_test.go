package solver

import (
	"math/rand/v2"
	"slices"
	"testing"

	"spokeshave.dev/controller/core/solver/constraint"
)

// TestNeverSplit: pods that want their own kind in their zone all get the same
// one, also when several zones have nodes with room; and those that want it on
// their own node get one node.
func TestNeverSplit(t *testing.T) {
	placed := 0
	for seed := range seeds(150) {
		r := rand.New(rand.NewPCG(seed, 23))
		key := []string{constraint.LabelZone, constraint.LabelHostname}[r.IntN(2)]
		in := Input{Snapshot: smallCluster(), Effort: DefaultEffort}
		zoned(in.Snapshot, []string{"a", "b"}[:r.IntN(3)]...)
		for range 1 + r.IntN(2) { // of one kind, in one or two sizes
			pending(&in, 1+r.IntN(6), int64(200+r.IntN(1800)), 1, labelled("x"), follow(key, "x"))
		}
		pending(&in, r.IntN(5), int64(200+r.IntN(3000)), 1, labelled("y"))
		plan, _ := Solve(in)
		hold(t, seed, &in, &plan)
		s, zones, nodes := in.Snapshot, map[string]bool{}, 0
		isX := func(pod int32) bool { return s.Specs[s.Pods[pod].Spec].Labels["app"] == "x" }
		for i := range plan.Existing {
			if slices.ContainsFunc(plan.Existing[i].Pods, isX) {
				zones[s.Nodes[plan.Existing[i].Node].Zone] = true
				nodes++
			}
		}
		for i := range plan.Nodes {
			if !slices.ContainsFunc(plan.Nodes[i].Pods, isX) {
				continue
			}
			nodes++
			if key == constraint.LabelHostname {
				zones[plan.Nodes[i].Options[0].Zone] = true
				continue
			}
			for _, o := range plan.Nodes[i].Options {
				zones[o.Zone] = true
			}
		}
		if len(zones) > 1 || key == constraint.LabelHostname && nodes > 1 {
			t.Errorf("seed %d: pods that want each other near (%s) are in zones %v, on %d nodes", seed, key, zones, nodes)
		}
		placed += nodes
	}
	if placed == 0 {
		t.Error("nothing was placed")
	}
}
