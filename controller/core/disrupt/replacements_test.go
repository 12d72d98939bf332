package disrupt

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/instancetype"
)

// TestPair: of three nodes that seem to save something, two share a cheaper node. All three
// together cost more than they do now, and so would each alone.
func TestPair(t *testing.T) {
	room := func(cpu int64) model.Resources {
		return model.Resources{model.CPU: cpu, model.Memory: cpu << 20, model.PodSlots: 10}
	}
	kind := func(name string, cpu int64, usd float64) model.InstanceType {
		out := instancetype.Of(name, room(cpu))
		out.Offerings = append(out.Offerings, instancetype.OnDemand("a", model.PriceOf(usd)))
		return out
	}
	s := &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(kind("four", 4000, 0.5), kind("eight", 8000, 0.8))},
		Pools:    []model.Pool{{Name: "general", NodeClass: "default"}},
	}
	for i, n := range []struct {
		cpu int64
		usd float64
	}{{4000, 0.45}, {4000, 0.45}, {5000, 0.53}} {
		name := string(rune('a' + i))
		s.Specs = append(s.Specs, model.PodSpec{Namespace: "shop", Requests: model.Resources{model.CPU: n.cpu, model.PodSlots: 1}})
		s.Pods = append(s.Pods, model.Pod{UID: name, Namespace: "shop", Name: name, Spec: int32(i), Node: int32(i)})
		s.Nodes = append(s.Nodes, model.Node{
			Name: name, Claim: name, State: model.Initialized, Zone: "a", CapacityType: model.OnDemand, Price: model.PriceOf(n.usd), Allocatable: room(n.cpu),
			Labels: map[string]string{"topology.kubernetes.io/zone": "a"},
		})
	}
	in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 1), Costs: make([]solver.Costs, 1), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
	sc := NewProjection(NewSurvey(s, nil), &in, nil)
	var started [][]int32
	begun := sc.Search([]Option{{Node: 0, Cost: 1}, {Node: 1, Cost: 1}, {Node: 2, Cost: 1}}, []int{3}, DefaultEffort(), func(p *Proposal) []int32 {
		started = append(started, p.Nodes)
		return nil
	})
	if diff := cmp.Diff([][]int32{{0, 1}}, started); diff != "" || begun != 1 {
		t.Errorf("%d started (-want +got):\n%s", begun, diff)
	}
}
