package disrupt

import (
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
)

// TestCertain: a small and a large pod fit on a small and a large node, each in its
// place. The scheduler puts the small one on the large node when it comes first, for
// that is the emptiest.
func TestCertain(t *testing.T) {
	room := func(cpu int64) model.Resources {
		return model.Resources{model.CPU: cpu, model.Memory: cpu << 20, model.PodSlots: 10}
	}
	for name, tc := range map[string]struct {
		reason   string
		trusting bool
		large    int64
		found    string // empty for a proposal
	}{
		"tight":    {reason: "the large pod may find its node taken", large: 4000, found: ReasonUncertain},
		"trusting": {reason: "unless the scheduler does as planned", trusting: true, large: 4000},
		"roomy":    {reason: "both fit on the large node", large: 6000},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Pools: []model.Pool{{Name: "general", Catalog: -1}},
				Specs: []model.PodSpec{{Requests: model.Resources{model.CPU: 2000, model.PodSlots: 1}}, {Requests: model.Resources{model.CPU: 4000, model.PodSlots: 1}}},
				Pods:  []model.Pod{{UID: "a", Name: "a", Spec: 0}, {UID: "b", Name: "b", Spec: 1}, {UID: "c", Name: "c", Spec: 0, Node: 1}},
			}
			for i, cpu := range []int64{8000, 4000, tc.large} {
				n := model.Node{Name: string(rune('0' + i)), State: model.Initialized, Price: 1_000_000, Allocatable: room(cpu)}
				n.Claim = n.Name
				s.Nodes = append(s.Nodes, n)
			}
			sc := NewProjection(NewSurvey(s, nil), &solver.Input{Snapshot: s}, nil)
			sc.Trusting = tc.trusting
			p := sc.Consolidate([]int32{0})
			if (p != nil) != (tc.found == "") {
				t.Fatalf("%s: proposal %+v", tc.reason, p)
			}
			if p == nil && sc.Found(0).Reason != tc.found {
				t.Errorf("%s: found %q, want %q", tc.reason, sc.Found(0).Reason, tc.found)
			}
		})
	}
}
