package solver

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
)

func TestMinValues(t *testing.T) {
	atLeast := func(s *model.Snapshot, key string, n int) {
		s.Pools[0].Requirements = append(s.Pools[0].Requirements, model.Requirement{Key: key, Operator: model.Exists, MinValues: n})
	}
	cases := map[string]struct {
		reason string
		setup  func(in *Input, s *model.Snapshot)
		values int
		want   []string
	}{
		"Kept": {
			reason: "dearer options are listed until there are enough",
			setup: func(in *Input, s *model.Snapshot) {
				atLeast(s, constraint.LabelInstanceType, 3)
				pending(in, 2, 500, 1)
			},
			values: 3,
			want:   []string{"general m.large a on-demand <- ab"},
		},
		"SmallerNodes": {
			reason: "a node that only the largest types hold is not planned where smaller ones do",
			setup: func(in *Input, s *model.Snapshot) {
				atLeast(s, constraint.LabelInstanceType, 2)
				pending(in, 4, 2000, 8)
			},
			values: 2,
			want:   []string{"general m.xlarge a on-demand <- ab", "general m.xlarge a on-demand <- cd"},
		},
		"Refused": {
			reason: "two types hold the pod, three are wanted",
			setup: func(in *Input, s *model.Snapshot) {
				atLeast(s, constraint.LabelInstanceType, 3)
				pending(in, 1, 3000, 1)
			},
			want: []string{"a: general MinValues: the NodePool wants nodes to choose from 3 values of node.kubernetes.io/instance-type, those that fit have 2"},
		},
		"BestEffort": {
			reason: "or as many as there are",
			setup: func(in *Input, s *model.Snapshot) {
				s.Settings.RelaxMinValues = true
				atLeast(s, constraint.LabelInstanceType, 3)
				pending(in, 1, 3000, 1)
			},
			values: 2,
			want:   []string{"general m.xlarge a on-demand <- a"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Input{Snapshot: smallCluster(), Effort: DefaultEffort}
			tc.setup(&in, in.Snapshot)
			plan, _ := Solve(in)
			if diff := cmp.Diff(tc.want, outline(in.Snapshot, &plan)); diff != "" {
				t.Errorf("%s\n%s", tc.reason, diff)
			}
			for i := range plan.Nodes {
				types := map[string]bool{}
				for _, o := range plan.Nodes[i].Options {
					types[o.InstanceType] = true
				}
				if len(types) < tc.values {
					t.Errorf("%s: node %d has %d types", tc.reason, i, len(types))
				}
			}
			for _, v := range check.Plan(in.Snapshot, &plan, constraints(&in)) {
				t.Error(v)
			}
		})
	}
}

// TestDomainWithoutLaunch: another pod wants to be near the pods of web in a tier. Only a NodePool
// that cannot meet its minValues has a tier: the pods of web go to the other one, with and without
// effort.
func TestDomainWithoutLaunch(t *testing.T) {
	const tier = "example.com/tier"
	for _, effort := range []int{0, DefaultEffort} {
		in := Input{Snapshot: smallCluster(), Effort: effort}
		s := in.Snapshot
		tiered := s.Pools[0]
		tiered.Name, tiered.NodeLabels = "tiered", map[string]string{tier: "x"}
		tiered.Requirements = append(slices.Clone(tiered.Requirements), model.Requirement{Key: constraint.LabelInstanceType, Operator: model.Exists, MinValues: 9})
		s.Pools = append(s.Pools, tiered)
		pending(&in, 2, 500, 1, labelled("web"))
		pending(&in, 1, 500, 1, follow(tier, "web"))
		plan, _ := Solve(in)
		for i := range plan.Unplaced {
			if s.Pods[plan.Unplaced[i].Pod].Spec == 0 {
				t.Errorf("effort %d: %s is left out: %+v", effort, s.Pods[plan.Unplaced[i].Pod].Name, plan.Unplaced[i].Reasons)
			}
		}
		for _, v := range check.Plan(s, &plan, constraints(&in)) {
			t.Error(v)
		}
	}
}
