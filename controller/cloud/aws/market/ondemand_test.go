package market

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/aws/refresh"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// priceList answers with amounts an hour by tenancy, product family and type, in the currency of
// the region that it is asked about.
type priceList map[string]map[string]map[string]string

func (p priceList) GetProducts(_ context.Context, in *pricing.GetProductsInput, _ ...func(*pricing.Options)) (*pricing.GetProductsOutput, error) {
	asked := map[string]string{}
	for _, f := range in.Filters {
		asked[sdk.ToString(f.Field)] = sdk.ToString(f.Value)
	}
	currency := "USD"
	if strings.HasPrefix(asked["regionCode"], "cn-") {
		currency = "CNY"
	}
	out := &pricing.GetProductsOutput{}
	for family, prices := range p[asked["tenancy"]] {
		if want := asked["productFamily"]; want != "" && want != family {
			continue
		}
		for name, amount := range prices {
			out.PriceList = append(out.PriceList, fmt.Sprintf(`{"product": {"attributes": {"instanceType": %q}},
				"terms": {"OnDemand": {"term": {"priceDimensions": {"rate": {"unit": "Hrs", "pricePerUnit": {%q: %q}}}}}}}`, name, currency, amount))
		}
	}
	return out, nil
}

// Bare metal is listed under tenancy Dedicated, as a family of its own; what others cost on
// dedicated hardware is not what they cost here.
func TestBareMetalPrices(t *testing.T) {
	m := &Market{Region: "us-west-2", Pricing: priceList{
		"Shared": {"Compute Instance": {"m5.large": "0.096"}, "Compute Instance (bare metal)": {"i3.metal": "4.992"}},
		"Dedicated": {
			"Compute Instance":              {"m5.large": "0.102", "c5.large": "0.09"},
			"Compute Instance (bare metal)": {"m5.metal": "4.608", "i3.metal": "5.5"},
		},
	}}
	got, err := m.onDemandPrices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]model.Price{"m5.large": model.PriceOf(0.096), "i3.metal": model.PriceOf(4.992), "m5.metal": model.PriceOf(4.608)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("prices (-want +got):\n%s", diff)
	}
}

// TestPricesOfPartitions: China's list has prices in CNY; GovCloud and the isolated partitions have
// no list, and are not asked for one. Everywhere each type that is sold on demand has a price,
// whether a list has it or none.
func TestPricesOfPartitions(t *testing.T) {
	for region, asked := range map[string]bool{
		"us-west-2": true, "cn-north-1": true, "cn-northwest-1": true, "us-gov-west-1": false, "us-gov-east-1": false, "us-iso-east-1": false, "eu-isoe-west-1": false,
	} {
		t.Run(region, func(t *testing.T) {
			m := &Market{Region: region, Pricing: priceList{"Shared": {"Compute Instance": {"m5.large": "0.7"}}}}
			m.learn(func(a *answers) {
				for _, name := range []string{"m5.large", "c5.4xlarge", "m77i.large"} {
					f := fact{onDemand: true}
					f.Name, f.VCPU, f.MemoryMiB = name, 2, 8192
					a.facts = append(a.facts, f)
				}
			})
			prices := func() map[string]model.Price {
				out := map[string]model.Price{}
				for _, s := range m.Offer().Sales {
					if out[s.Type] = s.OnDemand; s.OnDemand <= 0 {
						t.Errorf("%s has no on-demand price", s.Type)
					}
				}
				return out
			}
			before := prices()
			at := slices.IndexFunc(m.Sources(), func(s *refresh.Source) bool { return s.What == "on-demand prices" })
			if asked != (at >= 0) {
				t.Fatalf("the price list is asked for: %t", at >= 0)
			}
			if !asked {
				return
			}
			if _, err := m.Sources()[at].Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := maps.Clone(before)
			want["m5.large"] = model.PriceOf(0.7)
			if diff := cmp.Diff(want, prices()); diff != "" {
				t.Errorf("prices after the list was read (-want +got):\n%s", diff)
			}
			m.Pricing = priceList{} // lists nothing
			if _, err := m.Sources()[at].Read(t.Context()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, prices()); diff != "" {
				t.Errorf("prices when the list has none (-want +got):\n%s", diff)
			}
		})
	}
}

// The embedded catalogue's spot prices serve until EC2's were read, and fill no gaps of them:
// what EC2 lists no price for, it does not sell.
func TestEmbeddedSpotFillsNoGaps(t *testing.T) {
	embedded := catalog.Sale{
		Type: "m5.large", Zones: []string{"us-west-2a", "us-west-2b"},
		Spot: map[string]model.Price{"us-west-2a": model.PriceOf(0.03), "us-west-2b": model.PriceOf(0.04)},
	}
	m := &Market{Region: "us-west-2"}
	if diff := cmp.Diff(embedded.Spot, m.priced(embedded).Spot); diff != "" {
		t.Errorf("before spot prices were read (-want +got):\n%s", diff)
	}
	m.answers.spot = map[string]map[string]model.Price{"m5.large": {"us-west-2a": model.PriceOf(0.05)}}
	if diff := cmp.Diff(map[string]model.Price{"us-west-2a": model.PriceOf(0.05)}, m.priced(embedded).Spot); diff != "" {
		t.Errorf("after (-want +got):\n%s", diff)
	}
}

// Zones of the embedded catalogue are those of another account: a class that has subnets in
// none of their IDs is offered nothing in them, and names are the account's.
func TestEmbeddedZonesAreTheAccounts(t *testing.T) {
	sale := catalog.Sale{
		Type: "m5.large", Zones: []string{"us-west-2a", "us-west-2b"},
		ZoneIDs: map[string]string{"us-west-2a": "usw2-az1", "us-west-2b": "usw2-az2"},
		Spot:    map[string]model.Price{"us-west-2a": model.PriceOf(0.03), "us-west-2b": model.PriceOf(0.04)},
	}
	got := inAccount(sale, map[string]string{"us-west-2c": "usw2-az2"})
	if diff := cmp.Diff([]string{"us-west-2c"}, got.Zones); diff != "" {
		t.Errorf("zones (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]model.Price{"us-west-2c": model.PriceOf(0.04)}, got.Spot); diff != "" {
		t.Errorf("spot prices (-want +got):\n%s", diff)
	}
}
