package aws

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// pricingRegion is the nearest of the few regions that have the Price List
// service; each of them knows the prices of all.
// https://docs.aws.amazon.com/general/latest/gr/billing.html
func pricingRegion(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "cn-northwest-1"
	case strings.HasPrefix(region, "eu-"), strings.HasPrefix(region, "me-"), strings.HasPrefix(region, "af-"), strings.HasPrefix(region, "il-"):
		return "eu-central-1"
	case strings.HasPrefix(region, "ap-"):
		return "ap-south-1"
	default:
		return "us-east-1"
	}
}

// onDemandPrices asks the Price List service for Linux on shared hardware.
func (p *Provider) onDemandPrices(ctx context.Context) (map[string]model.Price, error) {
	pages := pricing.NewGetProductsPaginator(p.sdk.Pricing, &pricing.GetProductsInput{
		ServiceCode: sdk.String("AmazonEC2"),
		Filters: []pricingtypes.Filter{
			productTerm("regionCode", p.region),
			productTerm("operatingSystem", "Linux"),
			productTerm("preInstalledSw", "NA"),
			productTerm("tenancy", "Shared"),
			productTerm("capacitystatus", "Used"),
			productTerm("marketoption", "OnDemand"),
		},
	})
	out := map[string]model.Price{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault(err, "get on-demand prices of %s", p.region)
		}
		for _, raw := range page.PriceList {
			name, price, err := parseProduct(raw)
			if err != nil {
				return nil, refuse(provider.Unavailable, "get on-demand prices of %s: %w", p.region, err)
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

// parseProduct reads one product of the price list: its instance type and
// hourly price, 0 when it is not sold by the hour in dollars.
func parseProduct(raw string) (string, model.Price, error) {
	doc, err := parseEntry(raw)
	if err != nil {
		return "", 0, err
	}
	name := doc.Product.Attributes.InstanceType
	if name == "" {
		return "", 0, errors.New("parse price list entry: it names no instance type")
	}
	for _, term := range doc.Terms.OnDemand {
		for _, dimension := range term.PriceDimensions {
			if dimension.Unit != "Hrs" {
				continue
			}
			usd, err := strconv.ParseFloat(dimension.PricePerUnit["USD"], 64)
			if err != nil {
				continue // priced in another currency
			}
			return name, model.PriceOf(usd), nil
		}
	}
	return name, 0, nil
}

// spotPrices asks EC2 for the current spot price of every type and zone.
func (p *Provider) spotPrices(ctx context.Context) (map[string]map[string]model.Price, error) {
	now := p.cfg.Clock()
	pages := ec2.NewDescribeSpotPriceHistoryPaginator(p.sdk.EC2, &ec2.DescribeSpotPriceHistoryInput{
		ProductDescriptions: []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"},
		StartTime:           &now,
	})
	out := map[string]map[string]model.Price{}
	newest := map[offering]int64{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault(err, "describe spot prices of %s", p.region)
		}
		for i := range page.SpotPriceHistory {
			addSpotPrice(out, newest, &page.SpotPriceHistory[i])
		}
	}
	return out, nil
}

func addSpotPrice(out map[string]map[string]model.Price, newest map[offering]int64, s *types.SpotPrice) {
	usd, err := strconv.ParseFloat(sdk.ToString(s.SpotPrice), 64)
	if err != nil || usd <= 0 {
		return
	}
	name, zone := string(s.InstanceType), sdk.ToString(s.AvailabilityZone)
	key := offering{instanceType: name, zone: zone}
	at := sdk.ToTime(s.Timestamp).UnixNano()
	if before, seen := newest[key]; seen && before > at {
		return
	}
	newest[key] = at
	if out[name] == nil {
		out[name] = map[string]model.Price{}
	}
	out[name][zone] = model.PriceOf(usd)
}
