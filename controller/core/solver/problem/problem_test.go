package problem_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
	"spokeshave.dev/test/kit/instancetype"
)

// spec returns a spec that requests so many CPUs, in millicores.
func spec(cpu int64, change ...func(*model.PodSpec)) model.PodSpec {
	s := model.PodSpec{Namespace: "ns", Requests: model.Resources{"cpu": cpu, "pods": 1}}
	for _, f := range change {
		f(&s)
	}
	return s
}

func inZone(zone string) func(*model.PodSpec) {
	return func(s *model.PodSpec) { s.NodeSelector = map[string]string{constraint.LabelZone: zone} }
}

func urgent(s *model.PodSpec) { s.Priority = 10 }

func labelled(s *model.PodSpec) { s.Labels = map[string]string{"team": "red"} }

// of returns the problem of two pods of each spec. Nodes with 4 CPUs can be launched
// in the zones a and b.
func of(specs ...model.PodSpec) *problem.Problem {
	s := &model.Snapshot{
		Catalogs: []model.Catalog{instancetype.Catalog(instancetype.New("large", 4000, 64, 20,
			instancetype.OnDemand("a", model.PriceOf(1)), instancetype.OnDemand("b", model.PriceOf(2))))},
		Pools: []model.Pool{{Name: "general", NodeClass: "default"}},
		Specs: specs,
	}
	in := problem.Input{Supply: supply.Question{Snapshot: s}, Required: specs}
	for i := range 2 * len(specs) {
		in.Pods = append(in.Pods, int32(i))
		s.Pods = append(s.Pods, model.Pod{Namespace: "ns", Name: fmt.Sprint("pod-", i), Spec: int32(i / 2), Node: -1})
	}
	return problem.New(&in)
}

// TestClassesAndItems checks which pods become one class, and which classes one item.
func TestClassesAndItems(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		specs  []model.PodSpec
		// classes and items are the numbers of pods of each.
		classes, items []int32
	}{
		"Equal":     {"the scheduler treats them alike", []model.PodSpec{spec(500), spec(500)}, []int32{4}, []int32{4}},
		"Labels":    {"no constraint refers to the labels", []model.PodSpec{spec(500), spec(500, labelled)}, []int32{4}, []int32{4}},
		"Requests":  {"larger ones come first", []model.PodSpec{spec(500), spec(600), spec(500)}, []int32{2, 4}, []int32{2, 4}},
		"Priority":  {"priorities are packed together", []model.PodSpec{spec(500), spec(500, urgent)}, []int32{2, 2}, []int32{4}},
		"Zones":     {"the sets of offers differ", []model.PodSpec{spec(500), spec(500, inZone("a"))}, []int32{2, 2}, []int32{2, 2}},
		"SameZone":  {"zone a is asked for twice", []model.PodSpec{spec(500, inZone("a")), spec(500, inZone("a"))}, []int32{4}, []int32{4}},
		"TooLarge":  {"nothing holds the second", []model.PodSpec{spec(500), spec(5000)}, []int32{2, 2}, []int32{2}},
		"Elsewhere": {"nothing can be launched in zone c", []model.PodSpec{spec(500), spec(500, inZone("c"))}, []int32{2, 2}, []int32{2}},
	} {
		t.Run(name, func(t *testing.T) {
			p := of(tc.specs...)
			var classes, left, items []int32
			for c := range p.Classes {
				classes, left = append(classes, p.Classes[c].N()), append(left, p.Classes[c].N())
			}
			p.SelectPackedRules()
			all := vec.NewBits(len(p.Supply.Offers))
			all.SetRange(0, int32(len(p.Supply.Offers)))
			for _, i := range p.Items(left, 0, all, problem.MaximumRequest).List {
				items = append(items, i.N)
			}
			if diff := cmp.Diff(tc.classes, classes); diff != "" {
				t.Errorf("%s: classes (-want +got)\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.items, items); diff != "" {
				t.Errorf("%s: items (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

// TestMergedItems checks that many different requests become few items, which request
// as much as the largest of their pods, or the mean.
func TestMergedItems(t *testing.T) {
	var specs []model.PodSpec
	for i := range int64(400) {
		specs = append(specs, spec(100+i))
	}
	p := of(specs...)
	p.SelectPackedRules()
	left := slices.Repeat([]int32{2}, len(p.Classes))
	all := vec.NewBits(len(p.Supply.Offers))
	all.SetRange(0, int32(len(p.Supply.Offers)))
	for _, tc := range []struct {
		name   string
		merged problem.MergedRequest
		holds  func(request, largest, sum, pods int64) bool
	}{
		{"maximum", problem.MaximumRequest, func(request, largest, _, _ int64) bool { return request == largest }},
		{"mean", problem.MeanRequest, func(request, _, sum, pods int64) bool { return request == (sum+pods-1)/pods }},
	} {
		items, pods := p.Items(left, 0, all, tc.merged), int32(0)
		if !items.Merged || len(items.List) > 96 {
			t.Errorf("%s: %d items, merged %v: want at most 96", tc.name, len(items.List), items.Merged)
		}
		for _, it := range items.List {
			pods += it.N
			largest, sum := int64(0), int64(0)
			for _, m := range it.Members {
				cpu := p.Classes[m.Class].Requests[0]
				largest, sum = max(largest, cpu), sum+cpu*int64(m.N)
			}
			if !tc.holds(it.Request[0], largest, sum, int64(it.N)) {
				t.Errorf("%s: an item of %d pods requests %d, the largest %d, all %d", tc.name, it.N, it.Request[0], largest, sum)
			}
		}
		if pods != 800 {
			t.Errorf("%s: the items have %d pods, want 800", tc.name, pods)
		}
	}
}

// TestHosts checks what hosts have room for, and their order.
func TestHosts(t *testing.T) {
	s := &model.Snapshot{
		Pools: []model.Pool{{Name: "general"}},
		Nodes: []model.Node{
			{Name: "coming", State: model.InFlight, Allocatable: model.Resources{"cpu": 4000, "pods": 10}},
			{Name: "leaving", State: model.Deleting, Allocatable: model.Resources{"cpu": 4000, "pods": 10}},
			{Name: "ready", State: model.Initialized, Allocatable: model.Resources{"cpu": 4000, "pods": 10}},
			{Name: "full", State: model.Initialized, Allocatable: model.Resources{"cpu": 1000, "pods": 10}},
		},
		Specs:   []model.PodSpec{spec(1500), spec(100)},
		Daemons: []model.DaemonSet{{Namespace: "ns", Name: "log", Spec: spec(100)}},
		Pods: []model.Pod{
			{Namespace: "ns", Name: "moving", Spec: 0, Node: 2},
			{Namespace: "ns", Name: "stays", Spec: 0, Node: 2},
			{Namespace: "ns", Name: "log-x1", Spec: 1, Node: 2, Daemon: true},
			{Namespace: "ns", Name: "large", Spec: 0, Node: 3},
		},
	}
	p := problem.New(&problem.Input{Supply: supply.Question{Snapshot: s}, Pods: []int32{0}, Required: s.Specs})
	var got []string
	for _, h := range p.Hosts() {
		got = append(got, fmt.Sprint(s.Nodes[h.Node].Name, " ", h.Free[0]))
	}
	// ready: 4000 less the pod that stays and its daemon; coming: less the daemon that will run there.
	want := []string{"full 0", "ready 2400", "coming 3900", "leaving 0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hosts and their free CPUs (-want +got)\n%s", diff)
	}
}
