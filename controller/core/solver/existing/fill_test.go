package existing_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/domains"
	"spokeshave.dev/controller/core/solver/existing"
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// TestFill checks who gets the room on two nodes of 2 CPUs each, and how many pods of
// each spec are left.
func TestFill(t *testing.T) {
	pod := func(name string, cpu int64, priority int32) model.PodSpec {
		return model.PodSpec{Namespace: "ns", Labels: map[string]string{"app": name}, Priority: priority, Requests: model.Resources{"cpu": cpu, "pods": 1}}
	}
	selects := func(name string) model.PodSelector {
		return model.PodSelector{Namespaces: []string{"ns"}, Labels: []model.Requirement{{Key: "app", Operator: model.In, Values: []string{name}}}}
	}
	alone := pod("alone", 500, 0)
	alone.PodAntiAffinity = []model.PodTerm{{Key: constraint.LabelHostname, Selector: selects("alone")}}
	follower := pod("follower", 1500, 5)
	follower.PodAffinity = []model.PodTerm{{Key: constraint.LabelHostname, Selector: selects("leader")}}
	inB := pod("b", 500, 0)
	inB.PodAffinity = []model.PodTerm{{Key: constraint.LabelZone, Selector: selects("resident")}}
	for name, tc := range map[string]struct {
		reason string
		pods   int
		specs  []model.PodSpec
		// residents is how many pods run on the second node.
		residents int
		left      map[string]int32
	}{
		"Priority": {"the urgent ones come first", 2, []model.PodSpec{pod("low", 2000, 0), pod("high", 2000, 1)}, 0, map[string]int32{"low": 2, "high": 0}},
		"Size":     {"of the same priority, the large ones come first", 2, []model.PodSpec{pod("small", 1000, 0), pod("large", 1500, 0)}, 0, map[string]int32{"small": 2, "large": 0}},
		"Alone":    {"one to a node", 3, []model.PodSpec{alone}, 0, map[string]int32{"alone": 1}},
		"Follower": {"those that others want there are placed before them, whatever the priority", 1, []model.PodSpec{follower, pod("leader", 500, 0)}, 0, map[string]int32{"follower": 0, "leader": 0}},
		"Domain":   {"only the node in zone b will do", 5, []model.PodSpec{inB}, 1, map[string]int32{"b": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Pools: []model.Pool{{Name: "general"}},
				Specs: append(tc.specs, pod("resident", 500, 0)),
				Nodes: []model.Node{
					{Name: "one", Zone: "a", State: model.Initialized, Allocatable: model.Resources{"cpu": 2000, "pods": 20}},
					{Name: "two", Zone: "b", State: model.Initialized, Allocatable: model.Resources{"cpu": 2000, "pods": 20}},
				},
			}
			in := problem.Input{Supply: supply.Question{Snapshot: s}, Required: s.Specs}
			for i := range tc.specs {
				for n := range tc.pods {
					in.Pods = append(in.Pods, int32(len(s.Pods)))
					s.Pods = append(s.Pods, model.Pod{Namespace: "ns", Name: fmt.Sprint(i, "-", n), Spec: int32(i), Node: -1})
				}
			}
			for range tc.residents {
				s.Pods = append(s.Pods, model.Pod{Namespace: "ns", Name: "resident", Spec: int32(len(tc.specs)), Node: 1})
			}
			p := problem.New(&in)
			hosts := p.Hosts()
			classes, of := domains.Assign(p, hosts, func() vec.Bits { return vec.NewBits(len(p.Supply.Offers)) }, domains.SpreadFirst)
			p.Classes = classes
			left := make([]int32, len(p.Classes))
			for c := range left {
				left[c] = p.Classes[c].N()
			}
			existing.Fill(p, hosts, of, left)
			got := map[string]int32{}
			for c := range left {
				got[p.Classes[c].Spec.Labels["app"]] += left[c]
			}
			if diff := cmp.Diff(tc.left, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
