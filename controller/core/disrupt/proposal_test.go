package disrupt

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver"
	"spokeshave.dev/test/kit/instancetype"
)

// TestObjection: whichever option of a replacement comes true, it has to be cheaper
// than what goes, and what is left of the options has to be variety enough.
func TestObjection(t *testing.T) {
	option := func(name string, usd float64) model.Option {
		return model.Option{InstanceType: name, Zone: "a", CapacityType: model.OnDemand, Price: model.PriceOf(usd), Effective: usd}
	}
	for name, tc := range map[string]struct {
		reason  string
		options []model.Option
		values  int
		want    string
		kept    []string
	}{
		"all":       {reason: "each of them is cheaper", options: []model.Option{option("s", 0.3), option("m", 0.4)}, kept: []string{"s", "m"}},
		"dear":      {reason: "a dear one would make up for what is saved", options: []model.Option{option("s", 0.3), option("m", 0.5), option("l", 0.6)}, kept: []string{"s"}},
		"none":      {reason: "nothing is saved", options: []model.Option{option("m", 0.5)}, want: nothingCheaper},
		"values":    {reason: "minValues leaves a choice of two", options: []model.Option{option("s", 0.3), option("m", 0.4)}, values: 2, kept: []string{"s", "m"}},
		"no choice": {reason: "what is dropped for its price is missed by minValues", options: []model.Option{option("s", 0.3), option("m", 0.5)}, values: 2, want: minValuesLost},
	} {
		t.Run(name, func(t *testing.T) {
			s := &model.Snapshot{
				Catalogs: []model.Catalog{instancetype.Catalog()},
				Pools:    []model.Pool{{Name: "general", Requirements: []model.Requirement{{Key: "node.kubernetes.io/instance-type", MinValues: tc.values}}}},
				Nodes:    []model.Node{{Name: "old", Claim: "old", State: model.Initialized, Price: model.PriceOf(0.5), CapacityType: model.OnDemand}},
			}
			for _, each := range []string{"s", "m", "l"} {
				s.Catalogs[0].Types = append(s.Catalogs[0].Types, instancetype.Of(each, nil))
			}
			sc := NewProjection(NewSurvey(s, nil), &solver.Input{Snapshot: s}, nil)
			sc.Trusting = true
			p := sc.propose(Underutilized, []int32{0}, &Simulation{Plan: model.Plan{Nodes: []model.PlannedNode{{Options: tc.options}}}})
			if why := (&consolidator{sc}).rejection(p); why.Reason != tc.want {
				t.Fatalf("%s: objection %q, want %q", tc.reason, why.Reason, tc.want)
			}
			if tc.want != "" {
				return
			}
			var kept []string
			for _, o := range p.Sim.Plan.Nodes[0].Options {
				kept = append(kept, o.InstanceType)
			}
			if diff := cmp.Diff(tc.kept, kept); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
