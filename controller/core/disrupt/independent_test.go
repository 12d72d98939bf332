package disrupt

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/instancetype"
)

// TestShares: nodes are looked at together, and what is begun are the exchanges that
// save something, each for itself.
func TestShares(t *testing.T) {
	room := func(cpu int64) model.Resources {
		return model.Resources{model.CPU: cpu, model.Memory: cpu << 22, model.PodSlots: 100}
	}
	kind := func(name string, cpu int64, usd float64) model.InstanceType {
		return instancetype.Of(name, room(cpu), instancetype.OnDemand("a", model.PriceOf(usd)))
	}
	node := func(name string, pool int32, cpu int64, usd float64) model.Node {
		return model.Node{
			Name: name, Claim: name, Pool: pool, State: model.Initialized, Zone: "a", CapacityType: model.OnDemand,
			Price: model.PriceOf(usd), Allocatable: room(cpu), Labels: map[string]string{"team": name[:1]},
		}
	}
	for name, tc := range map[string]struct {
		reason string
		nodes  []model.Node
		// at are the nodes of the pods, which each want 1.5 CPU on a node of their own pool.
		at   []int32
		want []string
		// commands are how many begin, 1 unless set.
		commands int
	}{
		"as dear":  {reason: "the small node would be replaced by its like", nodes: []model.Node{node("x-small", 0, 2000, 0.1), node("y-large", 1, 16_000, 0.8)}, at: []int32{0, 1}, want: []string{"y-large"}},
		"beside":   {reason: "it is tried beside two that are best replaced by one", nodes: []model.Node{node("x-small", 0, 2000, 0.1), node("y-large", 1, 16_000, 0.8), node("y-larger", 1, 16_000, 0.8)}, at: []int32{0, 1, 2}, want: []string{"y-large", "y-larger"}},
		"cheaper":  {reason: "both save something, and neither waits for the other", nodes: []model.Node{node("x-large", 0, 16_000, 0.8), node("y-large", 1, 16_000, 0.8)}, at: []int32{0, 1}, want: []string{"x-large", "y-large"}, commands: 2},
		"together": {reason: "pods of both go to one node: neither would be cheaper alone", nodes: []model.Node{node("x-small", 0, 2000, 0.1), node("x-smaller", 0, 2000, 0.1)}, at: []int32{0, 1}, want: []string{"x-small", "x-smaller"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Catalogs: []model.Catalog{instancetype.Catalog(kind("small", 2000, 0.1), kind("middle", 4000, 0.15), kind("large", 16_000, 0.8))},
				Nodes:    tc.nodes,
			}
			for _, team := range []string{"x", "y"} {
				s.Pools = append(s.Pools, model.Pool{Name: team, NodeClass: "default", NodeLabels: map[string]string{"team": team}})
				s.Specs = append(s.Specs, model.PodSpec{
					Namespace: "shop", NodeSelector: map[string]string{"team": team},
					Requests: model.Resources{model.CPU: 1500, model.Memory: 1 << 20, model.PodSlots: 1},
				})
			}
			for i, at := range tc.at {
				s.Pods = append(s.Pods, model.Pod{UID: string(rune('a' + i)), Namespace: "shop", Name: string(rune('a' + i)), Spec: s.Nodes[at].Pool, Node: at})
			}
			in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 2), Costs: make([]solver.Costs, 2), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
			sc := NewProjection(NewSurvey(s, nil), &in, nil)
			sc.Trusting = true
			var options []Option
			for i := range s.Nodes {
				options = append(options, Option{Node: int32(i)})
			}
			var began []string
			commands := 0
			sc.Search(options, []int{9, 9}, Effort{Replaces: 8, Starts: 4}, func(p *Proposal) []int32 {
				commands++
				for _, i := range p.Nodes {
					began = append(began, s.Nodes[i].Name)
				}
				sc.Accept(p.Nodes, &p.Sim.Plan)
				return nil
			})
			if diff := cmp.Diff(tc.want, began); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if commands != max(1, tc.commands) {
				t.Errorf("%s: %d commands, want %d", tc.reason, commands, max(1, tc.commands))
			}
		})
	}
}
