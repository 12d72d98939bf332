package solver

import (
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

// TestNoTurns: of pods that spread over single nodes a new node takes no more than
// their maxSkew. More would have to be bound in turns with those of other nodes, and
// no plan is to depend on that.
func TestNoTurns(t *testing.T) {
	ruled := 0
	for seed := range seeds(100) {
		g := newGenerator(seed)
		in := g.input(1 + g.IntN(100))
		g.Topology()
		plan, _ := Solve(in)
		s := in.Snapshot
		for i := range plan.Nodes {
			for _, pod := range plan.Nodes[i].Pods {
				spec := &s.Specs[s.Pods[pod].Spec]
				for at := range spec.Spread {
					x := &spec.Spread[at]
					if x.Soft || x.Key != constraint.LabelHostname {
						continue
					}
					ruled++
					if n := selected(s, plan.Nodes[i].Pods, x); n > x.MaxSkew {
						t.Errorf("seed %d: node %d has %d pods of a group whose maxSkew is %d", seed, i, n, x.MaxSkew)
					}
				}
			}
		}
	}
	if ruled == 0 {
		t.Error("no pod spreads over nodes")
	}
}

// selected counts the pods that a spread counts.
func selected(s *model.Snapshot, pods []int32, x *model.Spread) int32 {
	n := int32(0)
	for _, i := range pods {
		if spec := &s.Specs[s.Pods[i].Spec]; x.Selector.Matches(spec.Namespace, spec.Labels) {
			n++
		}
	}
	return n
}
