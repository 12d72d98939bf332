package check

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
)

// TestRefusals: each node says the first thing that keeps the pod off it, as the
// plan leaves it.
func TestRefusals(t *testing.T) {
	small, large := model.Resources{model.CPU: 1000}, model.Resources{model.CPU: 3000}
	room := model.Resources{model.CPU: 4000, model.PodSlots: 10}
	arm := map[string]string{"kubernetes.io/arch": "arm64"}
	s := &model.Snapshot{
		Specs: []model.PodSpec{
			{Requests: large, NodeSelector: arm, HostPorts: []model.HostPort{{Port: 80}}}, {Requests: small}, {Requests: small, HostPorts: []model.HostPort{{Port: 80}}},
		},
		Pods: []model.Pod{
			{Name: "asked", Node: -1},
			{Name: "runs", Spec: 1, Node: 3},
			{Name: "comes", Spec: 1, Node: -1},
			{Name: "holds", Spec: 2, Node: 6},
			{Name: "more", Spec: 1, Node: 3},
		},
		Nodes: []model.Node{
			{Name: "going", State: model.Deleting, Labels: arm, Allocatable: room},
			{Name: "tainted", State: model.Initialized, Labels: arm, Allocatable: room, Taints: []model.Taint{{Key: "gpu", Effect: model.NoSchedule}}},
			{Name: "intel", State: model.Initialized, Allocatable: room},
			{Name: "full", State: model.Initialized, Labels: arm, Allocatable: room},
			{Name: "filled by the plan", State: model.Initialized, Labels: arm, Allocatable: model.Resources{model.CPU: 3500, model.PodSlots: 10}},
			{Name: "broken", State: model.Initialized, Labels: arm, Allocatable: room, NotReady: true},
			{Name: "port", State: model.Initialized, Labels: arm, Allocatable: room},
			{Name: "free", State: model.Initialized, Labels: arm, Allocatable: room},
		},
	}
	got := NewNodeFilter(s, &model.Plan{Existing: []model.Assignment{{Node: 4, Pods: []int32{2}}}}).Refusals(0)
	want := []Refusal{
		{"not enough cpu left", 2, "full"},
		{"being deleted", 1, "going"},
		{"taint gpu:NoSchedule is not tolerated", 1, "tainted"},
		{"not what the pod's selector or affinity asks for", 1, "intel"},
		{"not ready", 1, "broken"},
		{"the host port is taken", 1, "port"},
		{"enough resources are free; topology spread, affinity between pods, or a disruption in progress keeps the pod off", 1, "free"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
