package check

import (
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

// TestOptionVerifier: as what else a node could have been launched.
func TestOptionVerifier(t *testing.T) {
	inA := instancetype.OnDemand("a", 70_000)
	room := model.Resources{model.CPU: 4000, model.PodSlots: 10}
	s := &model.Snapshot{
		Pools: []model.Pool{{Name: "general", Requirements: []model.Requirement{{Key: "karpenter.sh/capacity-type", Operator: model.In, Values: []string{"on-demand"}}}}},
		Catalogs: []model.Catalog{instancetype.Catalog(
			instancetype.ARM64(instancetype.Of("big", room, inA, instancetype.Spot("a", 70_000), instancetype.SoldOut(instancetype.OnDemand("b", 70_000)))),
			instancetype.ARM64(instancetype.Of("small", model.Resources{model.CPU: 1000, model.PodSlots: 10}, inA)),
			instancetype.Of("intel", room, inA),
		)},
		Specs: []model.PodSpec{{Requests: model.Resources{model.CPU: 900}, NodeSelector: map[string]string{"kubernetes.io/arch": "arm64"}}},
		Pods:  []model.Pod{{Name: "one", Node: -1}, {Name: "two", Node: -1}},
	}
	b := NewOptionVerifier(s, &model.PlannedNode{Pods: []int32{0, 1}})
	for name, tc := range map[string]struct {
		reason string
		typ    string
		zone   string
		as     model.CapacityType
		want   bool
	}{
		"fits":     {"room for both", "big", "a", model.OnDemand, true},
		"small":    {"room for one of them only", "small", "a", model.OnDemand, false},
		"arch":     {"not what the pods ask for", "intel", "a", model.OnDemand, false},
		"pool":     {"not what the NodePool allows", "big", "a", model.Spot, false},
		"sold out": {"not to be had now", "big", "b", model.OnDemand, false},
		"zone":     {"not sold there at all", "big", "c", model.OnDemand, false},
		"unknown":  {"no such type", "huge", "a", model.OnDemand, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := b.Accepts(model.Option{InstanceType: tc.typ, Zone: tc.zone, CapacityType: tc.as, Price: 70_000}); got != tc.want {
				t.Errorf("%s: %t", tc.reason, got)
			}
		})
	}
}
