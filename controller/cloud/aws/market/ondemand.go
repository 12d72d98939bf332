package market

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// onDemandPrices asks the Price List service for Linux on shared hardware. Bare metal has
// no neighbours: it is a product family of its own, which is listed under tenancy Dedicated.
func (m *Market) onDemandPrices(ctx context.Context) (map[string]model.Price, error) {
	out, err := m.productPrices(ctx, productTerm("tenancy", "Shared"))
	if err != nil {
		return nil, err
	}
	metal, err := m.productPrices(ctx, productTerm("tenancy", "Dedicated"), productTerm("productFamily", "Compute Instance (bare metal)"))
	if err != nil {
		return nil, err
	}
	for name, price := range metal {
		if _, listed := out[name]; !listed {
			out[name] = price
		}
	}
	return out, nil
}

// productPrices are the hourly prices of the products of the region, for Linux, that have
// the terms.
func (m *Market) productPrices(ctx context.Context, terms ...pricingtypes.Filter) (map[string]model.Price, error) {
	pages := pricing.NewGetProductsPaginator(m.Pricing, &pricing.GetProductsInput{
		ServiceCode: sdk.String("AmazonEC2"),
		Filters: append(terms,
			productTerm("regionCode", m.Region),
			productTerm("operatingSystem", "Linux"),
			productTerm("preInstalledSw", "NA"),
			productTerm("capacitystatus", "Used"),
			productTerm("marketoption", "OnDemand"),
		),
	})
	out := map[string]model.Price{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, client.Fault(err, "get on-demand prices of %s", m.Region)
		}
		for _, raw := range page.PriceList {
			name, price, err := parseProduct(raw, currency(m.Region))
			if err != nil {
				return nil, client.Refuse(provider.Unavailable, "get on-demand prices of %s: %w", m.Region, err)
			}
			if price > 0 {
				out[name] = price
			}
		}
	}
	return out, nil
}

// entry is what is read of one product of the price list.
type entry struct {
	Product struct {
		Attributes struct {
			InstanceType string `json:"instanceType"`
			Volume       string `json:"volumeApiName"`
		} `json:"attributes"`
	} `json:"product"`
	Terms struct {
		OnDemand map[string]struct {
			PriceDimensions map[string]struct {
				Unit         string            `json:"unit"`
				PricePerUnit map[string]string `json:"pricePerUnit"`
			} `json:"priceDimensions"`
		}
	} `json:"terms"`
}

func parseEntry(raw string) (e entry, err error) {
	if err := json.Unmarshal([]byte(raw), &e); err != nil {
		return e, fmt.Errorf("parse price list entry: %w", err)
	}
	return e, nil
}

// parseProduct reads one product of the price list: its instance type and hourly price, the
// highest if there are several, and 0 when it is not sold by the hour in the currency.
func parseProduct(raw, currency string) (string, model.Price, error) {
	doc, err := parseEntry(raw)
	if err != nil {
		return "", 0, err
	}
	name := doc.Product.Attributes.InstanceType
	if name == "" {
		return "", 0, errors.New("parse price list entry: it names no instance type")
	}
	most := model.Price(0)
	for _, term := range doc.Terms.OnDemand {
		for _, dimension := range term.PriceDimensions {
			if dimension.Unit != "Hrs" {
				continue
			}
			amount, err := strconv.ParseFloat(dimension.PricePerUnit[currency], 64)
			if err != nil || amount > model.MaxPrice.USD() {
				continue // priced in another currency, or no price
			}
			most = max(most, model.PriceOf(amount))
		}
	}
	return name, most, nil
}
