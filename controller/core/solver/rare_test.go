package solver

import (
	"fmt"
	"testing"

	"spokeshave.dev/controller/core/check"
	"spokeshave.dev/controller/core/model"
)

// TestManyResources: pods may request any number of different resources. Before, those
// that sort last were reported as unsupported.
func TestManyResources(t *testing.T) {
	const kinds = 30
	name := func(i int) string { return fmt.Sprintf("example.com/r%02d", i) }
	for _, tc := range map[string]struct {
		reason string
		setup  func(in *Input, s *model.Snapshot)
		left   int
		code   model.ReasonCode
		why    string
		nodes  int
	}{
		"launched": {
			reason: "every type has one of each, and each pod asks for another one: those with rare resources get nodes of their own",
			setup: func(in *Input, s *model.Snapshot) {
				for i := range s.Catalogs[0].Types {
					for k := range kinds {
						s.Catalogs[0].Types[i].Allocatable[name(k)] = 1
					}
				}
				for k := range kinds {
					pending(in, 1, 10, 0, func(p *model.PodSpec) { p.Requests[name(k)] = 1 })
				}
			},
			nodes: 22,
		},
		"running": {
			reason: "one node has the resource, one has it in use, and a third has too little",
			setup: func(in *Input, s *model.Snapshot) {
				for i, n := range []int64{2, 2, 1} {
					s.Nodes = append(s.Nodes, standby(fmt.Sprint("there-", i), model.Initialized))
					s.Nodes[i].Allocatable[name(kinds-1)] = n
				}
				occupy(s, 100, func(p *model.Pod, spec *model.PodSpec) { p.Node = 0; spec.Requests[name(kinds-1)] = 1 })
				for k := range kinds - 1 {
					pending(in, 2, 10, 0, func(p *model.PodSpec) { p.Requests[name(k)], p.NodeSelector = 1, map[string]string{"nobody": "x"} })
					pending(in, 2, 10, 0, func(p *model.PodSpec) { p.Requests[name(k)], p.NodeSelector = 1, map[string]string{"nobody": "y"} })
				}
				pending(in, 1, 10, 0, func(p *model.PodSpec) { p.Requests[name(kinds-1)] = 2 })
			},
			left: 4 * (kinds - 1), code: model.RequirementsConflict, why: "the pod asks for nobody=x, the NodePool's nodes do not have that label",
		},
		"nobody has it": {
			reason: "pods that ask for what nobody has do not stand in the way of others",
			setup: func(in *Input, _ *model.Snapshot) {
				for k := range kinds {
					pending(in, 1, 10, 0, func(p *model.PodSpec) { p.Requests[name(k)] = 1 })
				}
				pending(in, 3, 500, 1)
			},
			left: kinds, code: model.TooLarge, why: "no matching instance type has example.com/r00", nodes: 1,
		},
	} {
		in := Input{Snapshot: smallCluster(), Effort: DefaultEffort}
		tc.setup(&in, in.Snapshot)
		plan, _ := Solve(in)
		if len(plan.Unplaced) != tc.left || len(plan.Nodes) != tc.nodes {
			t.Errorf("%s: %d pods are left out on %d nodes, want %d on %d", tc.reason, len(plan.Unplaced), len(plan.Nodes), tc.left, tc.nodes)
		}
		for _, u := range plan.Unplaced {
			if got := u.Reasons[0].Message; tc.code == model.TooLarge && got != "no matching instance type has "+name(int(u.Pod)) {
				t.Errorf("%s: pod %d: %s", tc.reason, u.Pod, got)
			}
		}
		if tc.left > 0 {
			if got := plan.Unplaced[0].Reasons[0]; got.Code != tc.code || got.Message != tc.why {
				t.Errorf("%s: %s: %s", tc.reason, got.Code, got.Message)
			}
		}
		for _, v := range check.Plan(in.Snapshot, &plan, constraints(&in)) {
			t.Errorf("%s: %s", tc.reason, v)
		}
	}
}
