package solver

import (
	"fmt"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// TestAloneAndLarge: with this many kinds of pods, those that may use only small types
// are priced apart from the others. Large pods that want nodes of their own may use
// the small types, too, and fit on none of them.
func TestAloneAndLarge(t *testing.T) {
	g := newGenerator(1)
	g.Snapshot = &model.Snapshot{Catalogs: []model.Catalog{g.Catalog("default", 1, 2, 4, 8, 16, 32)}}
	g.Snapshot.Pools = []model.Pool{{Name: "general", NodeClass: "default"}}
	in := Input{Snapshot: g.Snapshot, Effort: DefaultEffort, Tolerance: DefaultTolerance}
	for i := range 100 { // more than one program prices
		cpu := int64(100 + 10*i)
		if i%2 == 0 {
			pending(&in, 1, cpu, 1, selector("karpenter.k8s.aws/instance-cpu", "2"))
		} else {
			pending(&in, 1, cpu, 1)
		}
	}
	pending(&in, 20, 14_000, 1, labelled("large"), avoid(constraint.LabelHostname, "large"))
	for i := range g.Snapshot.Pods {
		g.Snapshot.Pods[i].Name = fmt.Sprintf("pod-%03d", i)
	}
	plan, _ := Solve(in)
	hold(t, 0, &in, &plan)
	if len(plan.Unplaced) > 0 {
		t.Errorf("%d pods are left out: %+v", len(plan.Unplaced), plan.Unplaced[0].Reasons)
	}
}
