package market

import (
	"strings"
	"testing"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

func TestBilled(t *testing.T) {
	discounts, err := ParseDiscounts([]byte(`
discounts:
- {instanceType: m7i.large, capacityType: on-demand, hourlyUSD: 0.05}
- {family: m7i, share: 0.25}
- {capacityType: spot, share: 0}
- {share: 0.1}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		reason string
		kind   string
		ct     model.CapacityType
		want   float64
	}{
		"absolute":   {"the first that matches counts", "m7i.large", model.OnDemand, 0.05},
		"family":     {"the absolute price is for on-demand", "m7i.large", model.Spot, 0.15},
		"other size": {"a family has many sizes", "m7i.xlarge", model.OnDemand, 0.15},
		"flex":       {"m7i-flex is another family", "m7i-flex.large", model.OnDemand, 0.18},
		"spot":       {"a share of nothing leaves the list price", "c7g.large", model.Spot, 0.2},
	} {
		t.Run(name, func(t *testing.T) {
			types := []model.InstanceType{instancetype.Of(c.kind, nil, model.Offering{CapacityType: c.ct, Price: model.PriceOf(0.2)})}
			billed(types, discounts)
			if o := types[0].Offerings[0]; o.Price != model.PriceOf(c.want) || o.List != model.PriceOf(0.2) {
				t.Errorf("%s: %+v, want price %v and list price 0.2", c.reason, o, c.want)
			}
		})
	}
}

func TestParseDiscountsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"discounts: [{share: 1.5}]":                                       "0 to 1",
		"discounts: [{share: -0.1}]":                                      "0 to 1",
		"discounts: [{}]":                                                 "either share or hourlyUSD",
		"discounts: [{share: 0.1, hourlyUSD: 1}]":                         "either share or hourlyUSD",
		"discounts: [{hourlyUSD: 1}]":                                     "needs an instanceType",
		"discounts: [{instanceType: m5.large, hourlyUSD: -1}]":            "0 or more",
		"discounts: [{instanceType: m5, share: 0.1}]":                     "such as m7i.large",
		"discounts: [{instanceType: m5.large, family: m5, share: 0.1}]":   "exclude each other",
		"discounts: [{share: 0.1}, {capacityType: reserved, share: 0.1}]": "number 2",
		"discount: []": "unknown field",
	} {
		if _, err := ParseDiscounts([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", text, err, want)
		}
	}
}
