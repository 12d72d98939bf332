package applied

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"spokeshave.dev/controller/core/model"
)

// TestSnapshot: the planned nodes exist with the labels of their best option, the pods are on
// them, and pools and headroom are used. The snapshot before stays as it was.
func TestSnapshot(t *testing.T) {
	before := &model.Snapshot{
		Catalogs: []model.Catalog{{NodeCost: 5, Types: []model.InstanceType{{
			Name: "m.large", Labels: map[string]string{"arch": "amd64"},
			Capacity: model.Resources{"cpu": 2000}, Allocatable: model.Resources{"cpu": 1900},
			Offerings: []model.Offering{{Zone: "a", ZoneID: "az1"}, {Zone: "b", ZoneID: "az2"}},
		}}}},
		Pools: []model.Pool{{Name: "general", Usage: model.Resources{"cpu": 4000, model.NodeCount: 2}, NodeLabels: map[string]string{"team": "red"}}},
		Nodes: []model.Node{{Name: "there", Pool: -1}},
		Pods:  []model.Pod{{Name: "a", Node: -1}, {Name: "b", Node: -1}, {Name: "c", Node: -1}},
	}
	plan := &model.Plan{
		Existing: []model.Assignment{{Node: 0, Pods: []int32{0}}},
		Nodes: []model.PlannedNode{{Pods: []int32{1, 2}, Labels: map[string]string{"tier": "gold"}, Options: []model.Option{
			{InstanceType: "m.large", Zone: "b", CapacityType: model.Spot, Price: 30}, {InstanceType: "m.large", Zone: "a", CapacityType: model.OnDemand, Price: 100},
		}}},
	}
	index := NewIndex(before)
	after := index.Snapshot(before, plan)
	want := &model.Snapshot{
		Catalogs: before.Catalogs,
		Pools:    []model.Pool{{Name: "general", Usage: model.Resources{"cpu": 6000, model.NodeCount: 3}, NodeLabels: map[string]string{"team": "red"}}},
		Nodes: []model.Node{before.Nodes[0], {
			Name: "planned-general-1", Pool: 0, State: model.Registered, InstanceType: "m.large", Zone: "b", CapacityType: model.Spot, Price: 30, Extra: 5,
			Allocatable: model.Resources{"cpu": 1900},
			Labels: map[string]string{
				"arch": "amd64", "team": "red", "tier": "gold", "karpenter.sh/nodepool": "general", "karpenter.sh/capacity-type": "spot",
				"topology.kubernetes.io/zone": "b", "topology.k8s.aws/zone-id": "az2", "kubernetes.io/hostname": "planned-general-1",
			},
		}},
		Pods: []model.Pod{{Name: "a", Node: 0}, {Name: "b", Node: 1}, {Name: "c", Node: 1}},
	}
	if diff := cmp.Diff(want, after, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if before.Pods[1].Node != -1 || before.Pools[0].Usage["cpu"] != 4000 || len(before.Nodes) != 1 {
		t.Errorf("the snapshot before has changed: %+v", before)
	}
	left := Headroom([]model.Headroom{{Left: 1000}, {Left: 1000, Pools: []bool{false}}}, before, plan.Nodes)
	if left[0].Left != 1000-100-5 || left[1].Left != 1000 {
		t.Errorf("headroom left is %d and %d, want 895 (the worst option and the node cost) and 1000", left[0].Left, left[1].Left)
	}
}
