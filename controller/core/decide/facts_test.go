package decide

import (
	"reflect"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
)

// TestEveryFactIsFilled: over the offerings of a cluster that has everything, each field
// of a rank question is set in at least one row.
func TestEveryFactIsFilled(t *testing.T) {
	s := snapshot(3)
	large := &s.Catalogs[0].Types[0]
	large.Capacity["nvidia.com/gpu"] = 1
	large.Offerings = append(large.Offerings, model.Offering{
		Zone: "a", CapacityType: model.Spot, Price: 70_000, Interruption: 0.1, Available: true,
	})
	for _, bought := range []model.CapacityType{model.OnDemand, model.Spot} {
		n := node("has-"+string(bought), model.Initialized)
		n.InstanceType, n.Zone, n.CapacityType, n.Price = large.Name, "a", bought, 200_000
		s.Nodes = append(s.Nodes, n)
	}
	filled := map[string]bool{}
	note := func(of reflect.Value) {
		for field, value := range of.Fields() {
			name := of.Type().Name() + "." + field.Name
			filled[name] = filled[name] || !value.IsZero()
		}
	}
	decideOn(t, s, Options{}, &scripted{
		info: policy.Info{Name: "observer", Hooks: []policy.Hook{policy.HookRank}},
		rank: func(in *policy.RankInput) []policy.RankAnswer {
			note(reflect.ValueOf(in.Pool))
			out := make([]policy.RankAnswer, len(in.Rows))
			for i := range in.Rows {
				note(reflect.ValueOf(in.Rows[i]))
				out[i].Score = in.Rows[i].Cost
			}
			return out
		},
	})
	if len(filled) < 20 {
		t.Fatalf("only %d fields were seen", len(filled))
	}
	for name, set := range filled {
		if !set {
			t.Errorf("%s is 0 in every row", name)
		}
	}
}
