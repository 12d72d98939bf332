package market

import (
	"context"
	"fmt"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
)

// priceList answers with USD an hour by tenancy, product family and type.
type priceList map[string]map[string]map[string]string

func (p priceList) GetProducts(_ context.Context, in *pricing.GetProductsInput, _ ...func(*pricing.Options)) (*pricing.GetProductsOutput, error) {
	asked := map[string]string{}
	for _, f := range in.Filters {
		asked[sdk.ToString(f.Field)] = sdk.ToString(f.Value)
	}
	out := &pricing.GetProductsOutput{}
	for family, prices := range p[asked["tenancy"]] {
		if want := asked["productFamily"]; want != "" && want != family {
			continue
		}
		for name, usd := range prices {
			out.PriceList = append(out.PriceList, fmt.Sprintf(`{"product": {"attributes": {"instanceType": %q}},
				"terms": {"OnDemand": {"term": {"priceDimensions": {"rate": {"unit": "Hrs", "pricePerUnit": {"USD": %q}}}}}}}`, name, usd))
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
