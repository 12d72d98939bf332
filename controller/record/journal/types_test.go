package journal

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/decide"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/test/kit/instancetype"
)

// market returns a catalogue with types a to h in zones x and y, each more expensive
// than the one before; b is too small for the pod, and d is sold out in x.
func market() *model.Snapshot {
	s := snapshot()
	s.Specs = []model.PodSpec{{Requests: model.Resources{model.CPU: 3000}}}
	s.Pods = []model.Pod{{Name: "web", Node: -1}}
	s.Catalogs = []model.Catalog{instancetype.Catalog()}
	for i, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		cpu := int64(4000)
		if name == "b" {
			cpu = 2000
		}
		price := model.Price(100_000 + 10_000*i)
		x, y := instancetype.OnDemand("x", price), instancetype.OnDemand("y", price-50_000)
		x.Available = name != "d"
		s.Catalogs[0].Types = append(s.Catalogs[0].Types, instancetype.Of(name, model.Resources{model.CPU: cpu, model.PodSlots: 10}, x, y))
	}
	return s
}

// TestOtherTypes: the options of a node cost little more than the best and are often
// one type in several zones; OtherTypes lists the next best types.
func TestOtherTypes(t *testing.T) {
	option := func(typ string, price model.Price, effective float64) model.Option {
		return model.Option{InstanceType: typ, Zone: "x", CapacityType: model.OnDemand, Price: price, Effective: effective}
	}
	ranked := decide.Ranked{Outcome: policy.RankOutcome{Excluded: map[int]policy.Exclusion{2: {Policy: "no-f"}}}}
	for i, name := range []string{"c", "e", "f", "g", "a"} {
		ranked.Rows = append(ranked.Rows, policy.RankRow{InstanceType: name, Zone: "x", CapacityType: model.OnDemand, Billed: 0.1 + 0.01*float64(name[0]-'a')})
		ranked.Outcome.Tiers = append(ranked.Outcome.Tiers, []policy.Tier{{Cost: 1 - 0.1*float64(i)}})
	}
	planned := model.PlannedNode{Pods: []int32{0}, Options: []model.Option{option("a", 100_000, 0.1)}}
	for name, tc := range map[string]struct {
		reason string
		in     decide.Decision
		want   []model.Option
	}{
		"catalogue": {
			reason: "by price where no rank policy was asked; where the node could be only, and what holds the pod and is to be had",
			in:     decide.Decision{Plan: model.Plan{Nodes: []model.PlannedNode{planned}}},
			want:   []model.Option{option("c", 120_000, 0.12), option("e", 140_000, 0.14), option("f", 150_000, 0.15)},
		},
		"ranked": {
			reason: "as rank policies see them, without what they dropped",
			in:     decide.Decision{Plan: model.Plan{Nodes: []model.PlannedNode{planned}}, Ranked: []decide.Ranked{ranked}},
			want:   []model.Option{option("g", 160_000, 0.7), option("e", 140_000, 0.9), option("c", 120_000, 1)},
		},
		"refused": {
			reason: "nothing is known where a policy gave no answer",
			in:     decide.Decision{Plan: model.Plan{Nodes: []model.PlannedNode{planned}}, Ranked: []decide.Ranked{{Rows: ranked.Rows, Outcome: policy.RankOutcome{Refused: &policy.Exclusion{}}}}},
		},
		"replacement": {
			reason: "of a node that comes in another's stead, too",
			in:     decide.Decision{Commands: []decide.Command{{Stage: decide.Start, Nodes: []int32{0}, Replacements: []model.PlannedNode{planned}}}},
			want:   []model.Option{option("c", 120_000, 0.12), option("e", 140_000, 0.14), option("f", 150_000, 0.15)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			j, d := New(10, room), tc.in
			d.ID = "d"
			j.Add(t.Context(), market(), &d)
			j.digests.busy.Wait()
			var got []model.Option
			e := &j.Entries()[0]
			for i := range e.Nodes {
				got = append(got, e.Nodes[i].OtherTypes...)
			}
			for i := range e.Commands {
				for k := range e.Commands[i].Replacements {
					got = append(got, e.Commands[i].Replacements[k].OtherTypes...)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}
