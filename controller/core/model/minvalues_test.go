package model_test

import (
	"testing"

	"spokeshave.dev/controller/core/model"
)

func TestMinValuesRelaxed(t *testing.T) {
	const family = "karpenter.k8s.aws/instance-family"
	on := func(typ, zone string) model.Option {
		return model.Option{InstanceType: typ, Zone: zone, CapacityType: model.OnDemand}
	}
	for name, tc := range map[string]struct {
		reason  string
		want    model.Requirement
		options []model.Option
		relaxed bool
	}{
		"nothing wanted": {reason: "there is nothing to relax", want: model.Requirement{Key: family, Operator: model.Exists}, options: []model.Option{on("m5.large", "a")}},
		"met":            {reason: "two families", want: model.Requirement{Key: family, MinValues: 2}, options: []model.Option{on("m5.large", "a"), on("c5.large", "a")}},
		"one family":     {reason: "two types of one family", want: model.Requirement{Key: family, MinValues: 2}, options: []model.Option{on("m5.large", "a"), on("m5.xlarge", "a")}, relaxed: true},
		"types":          {reason: "two types", want: model.Requirement{Key: "node.kubernetes.io/instance-type", MinValues: 2}, options: []model.Option{on("m5.large", "a"), on("m5.xlarge", "a")}},
		"zones":          {reason: "one zone", want: model.Requirement{Key: "topology.kubernetes.io/zone", MinValues: 2}, options: []model.Option{on("m5.large", "a"), on("m5.xlarge", "a")}, relaxed: true},
		"capacity types": {reason: "one capacity type", want: model.Requirement{Key: "karpenter.sh/capacity-type", MinValues: 2}, options: []model.Option{on("m5.large", "a"), on("m5.large", "b")}, relaxed: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Pools: []model.Pool{{Name: "general", Requirements: []model.Requirement{tc.want}}},
				Catalogs: []model.Catalog{{Types: []model.InstanceType{
					{Name: "m5.large", Labels: map[string]string{family: "m5"}},
					{Name: "m5.xlarge", Labels: map[string]string{family: "m5"}},
					{Name: "c5.large", Labels: map[string]string{family: "c5"}},
				}}},
			}
			if got := s.MinValuesRelaxed(&model.PlannedNode{Options: tc.options}); got != tc.relaxed {
				t.Errorf("%s: relaxed %v, want %v", tc.reason, got, tc.relaxed)
			}
		})
	}
}
