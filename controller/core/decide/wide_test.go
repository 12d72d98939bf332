package decide

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/policy"
	"spokeshave.dev/test/kit/instancetype"
)

// TestWideOptions: spot nodes may become types of up to twice the price, with limits those
// that use no more of them. Where a ceiling policy is loaded they may not: each node counts
// as its dearest option, and the cap is to buy as many nodes as without.
func TestWideOptions(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		spot   bool
		change func(*model.Pool)
		caps   map[string]policy.Cap
		want   []string
		nodes  int
	}{
		"on demand": {"wider options would only cost", false, nil, nil, []string{"a.large", "b.large"}, 2},
		"spot":      {"more pools to choose from", true, nil, nil, []string{"a.large", "b.large", "c.large", "d.xlarge"}, 2},
		"limits":    {"what is added uses no more of them", true, func(p *model.Pool) { p.Limits = model.Resources{model.CPU: 100_000} }, nil, []string{"a.large", "b.large", "c.large"}, 2},
		"cap":       {"0.23 $/h buys two of b.large, and not of c.large", true, nil, map[string]policy.Cap{"cluster": {HourlyUSD: new(0.23)}}, []string{"a.large", "b.large"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := snapshot(2)
			s.Specs[0].Requests[model.CPU] = 3000
			types := []model.InstanceType{
				instanceType("a.large", "a", 4000, 100_000), instanceType("b.large", "b", 4000, 114_000), instanceType("c.large", "c", 4000, 160_000),
				instanceType("d.xlarge", "d", 5000, 190_000), instanceType("e.large", "e", 4000, 201_000),
			}
			for i := range types {
				for j := range types[i].Offerings {
					if types[i].Offerings[j].CapacityType = model.OnDemand; c.spot {
						types[i].Offerings[j].CapacityType = model.Spot
					}
				}
			}
			s.Catalogs[0] = instancetype.Catalog(types...)
			if c.change != nil {
				c.change(&s.Pools[0])
			}
			var policies []policy.Policy
			if c.caps != nil {
				policies = append(policies, caps(c.caps))
			}
			d := decideOn(t, s, Options{}, policies...)
			if len(d.Plan.Nodes) != c.nodes {
				t.Fatalf("%s: %d nodes, want %d: %+v", c.reason, len(d.Plan.Nodes), c.nodes, d.Plan)
			}
			for i := range d.Plan.Nodes {
				var got []string
				for _, o := range d.Plan.Nodes[i].Options {
					got = append(got, o.InstanceType)
				}
				if diff := cmp.Diff(c.want, slices.Compact(got)); diff != "" {
					t.Errorf("%s: options of node %d (-want +got):\n%s", c.reason, i, diff)
				}
			}
		})
	}
}
