package disrupt

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/instancetype"
)

// TestRandomSets: sets have two to eight nodes, no more than the budgets allow, and are fewer in
// a large cluster.
func TestRandomSets(t *testing.T) {
	for name, tc := range map[string]struct {
		reason               string
		nodes, budget        int
		sets, smallest, most int
	}{
		"small":     {reason: "two to eight nodes", nodes: 50, budget: 50, sets: 60, smallest: 2, most: 8},
		"tiny":      {reason: "no more than there are", nodes: 3, budget: 50, sets: 60, smallest: 2, most: 3},
		"one":       {reason: "one node is no set", nodes: 1, budget: 50},
		"budget":    {reason: "three nodes may go", nodes: 50, budget: 3, sets: 60, smallest: 2, most: 3},
		"no budget": {reason: "one node may go", nodes: 50, budget: 1},
		"large":     {reason: "a tenth of the sets for ten times the nodes", nodes: 1000, budget: 1000, sets: 6, smallest: 2, most: 7},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{Nodes: make([]model.Node, tc.nodes), Seed: 7}
			x := search{projection: &Projection{snap: *s}, left: []int{tc.budget}, effort: DefaultEffort()}
			open := make([]Option, tc.nodes)
			for i := range open {
				open[i].Node = int32(i)
			}
			sets := x.randomSets(open)
			if len(sets) != tc.sets {
				t.Fatalf("%s: %d sets, want %d", tc.reason, len(sets), tc.sets)
			}
			least, most := tc.nodes, 0
			for _, set := range sets {
				least, most = min(least, len(set)), max(most, len(set))
				slices.Sort(set)
				if len(slices.Compact(slices.Clone(set))) != len(set) {
					t.Errorf("%s: a node is twice in %v", tc.reason, set)
				}
			}
			if len(sets) > 0 && (least != tc.smallest || most != tc.most) {
				t.Errorf("%s: sets of %d to %d nodes, want %d to %d", tc.reason, least, most, tc.smallest, tc.most)
			}
		})
	}
}

// TestSetsOfUnpromising: a node is full of processors, another full of memory, and each has what
// is cheapest for its pods. One that has both costs less than the two.
func TestSetsOfUnpromising(t *testing.T) {
	room := func(cpu, gib int64) model.Resources {
		return model.Resources{model.CPU: cpu, model.Memory: gib << 30, model.PodSlots: 10}
	}
	kind := func(name string, has model.Resources, usd float64) model.InstanceType {
		out := instancetype.Of(name, has)
		out.Offerings = append(out.Offerings, instancetype.OnDemand("a", model.PriceOf(usd)))
		return out
	}
	fast, large := room(4000, 1), room(1000, 16)
	s := &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(kind("c", fast, 1), kind("r", large, 1), kind("m", room(5000, 17), 1.3))},
		Pools:    []model.Pool{{Name: "general", NodeClass: "default"}},
	}
	var options []Option
	for i, has := range []model.Resources{fast, large} {
		name := string(rune('a' + i))
		s.Specs = append(s.Specs, model.PodSpec{Namespace: "shop", Requests: model.Resources{model.CPU: has[model.CPU], model.Memory: has[model.Memory], model.PodSlots: 1}})
		s.Pods = append(s.Pods, model.Pod{UID: name, Namespace: "shop", Name: name, Node: int32(i), Spec: int32(i)})
		s.Nodes = append(s.Nodes, model.Node{
			Name: name, Claim: name, State: model.Initialized, Zone: "a", CapacityType: model.OnDemand, Price: model.PriceOf(1), Allocatable: has,
			Labels: map[string]string{"topology.kubernetes.io/zone": "a"},
		})
		options = append(options, Option{Node: int32(i)})
	}
	in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 1), Costs: make([]solver.Costs, 1), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
	var found []*Proposal
	NewProjection(NewSurvey(s, nil), &in, nil).Search(options, []int{2}, DefaultEffort(), func(p *Proposal) []int32 {
		found = append(found, p)
		return nil
	})
	if len(found) != 1 || len(found[0].Nodes) != 2 || found[0].Saves() < 0.7-1e-6 || found[0].Saves() > 0.7+1e-6 {
		t.Errorf("found %+v, want one replacement of both nodes that saves 0.7 $/h", found)
	}
}

// TestWithoutIdle: two nodes of which each pod fits on a small node of half the price, and one
// that is as it should be. Together with the two it would be replaced by its like.
func TestWithoutIdle(t *testing.T) {
	room := func(cpu int64) model.Resources {
		return model.Resources{model.CPU: cpu, model.Memory: cpu << 20, model.PodSlots: 10}
	}
	small := instancetype.Of("small", room(1000))
	small.Offerings = append(small.Offerings, instancetype.OnDemand("a", model.PriceOf(0.1)))
	s := &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(small)},
		Pools:    []model.Pool{{Name: "general", NodeClass: "default"}},
		Specs:    []model.PodSpec{{Namespace: "shop", Requests: model.Resources{model.CPU: 1000, model.PodSlots: 1}}},
	}
	for i, usd := range []float64{0.2, 0.1, 0.2} {
		name := string(rune('a' + i))
		s.Pods = append(s.Pods, model.Pod{UID: name, Namespace: "shop", Name: name, Node: int32(i)})
		s.Nodes = append(s.Nodes, model.Node{
			Name: name, Claim: name, State: model.Initialized, Zone: "a", CapacityType: model.OnDemand, Price: model.PriceOf(usd), Allocatable: room(1000),
			Labels: map[string]string{"topology.kubernetes.io/zone": "a"},
		})
	}
	in := solver.Input{Snapshot: s, Blocked: make([]*model.Reason, 1), Costs: make([]solver.Costs, 1), Effort: solver.DefaultEffort, Tolerance: solver.DefaultTolerance}
	x := search{projection: NewProjection(NewSurvey(s, nil), &in, nil), left: []int{3}, effort: DefaultEffort()}
	p := x.projection.Consolidate([]int32{0, 1, 2})
	if p == nil {
		t.Fatal("the three nodes together are no proposal")
	}
	if diff := cmp.Diff([]int32{0, 2}, x.withoutIdle(p).Nodes); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestSetsAreTriedOnce: of three nodes all seven sets are tried, each once, although sixty are
// drawn. Where a budget allows two of them, no set is larger.
func TestSetsAreTriedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		budget int
		want   []string
	}{
		"all": {"the budget allows all three", 3, []string{"[0 1 2]", "[0 1]", "[0 2]", "[0]", "[1 2]", "[1]", "[2]"}},
		"two": {"the budget allows two", 2, []string{"[0 1]", "[0 2]", "[0]", "[1 2]", "[1]", "[2]"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{Pools: []model.Pool{{Name: "general", Catalog: -1}}, Nodes: make([]model.Node, 3), Seed: 1}
			sc := NewProjection(NewSurvey(s, nil), &solver.Input{Snapshot: s}, nil)
			var open []Option
			for i := range sc.prices {
				sc.prices[i].effective = 1
				open = append(open, Option{Node: int32(i), Cost: 1, price: 1})
			}
			x := &search{projection: sc, left: []int{tc.budget}, effort: DefaultEffort()}
			var got []string
			for _, nodes := range x.setsToReplace(open, open, x.effort.Replaces) {
				got = append(got, fmt.Sprint(slices.Sorted(slices.Values(nodes))))
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
