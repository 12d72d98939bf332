package market

import (
	"context"
	"math"
	"strconv"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// VolumePrices are what EBS volumes cost in the region, by type, as the Price
// List service said last; nil while it has not been asked or cannot be reached.
// The answer is shared; callers do not change it.
func (m *Market) VolumePrices() map[string]model.VolumePrice {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answers.volumes
}

// volumeFamilies are the product families with the prices of volumes: for each
// GiB, for IOPS, for throughput.
func volumeFamilies() []string {
	return []string{"Storage", "System Operation", "Provisioned Throughput"}
}

// volumePrices asks the Price List service for EBS.
// https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-price-list-query-api.html
func (m *Market) volumePrices(ctx context.Context) (map[string]model.VolumePrice, error) {
	out := map[string]model.VolumePrice{}
	for _, family := range volumeFamilies() {
		pages := pricing.NewGetProductsPaginator(m.Pricing, &pricing.GetProductsInput{
			ServiceCode: sdk.String("AmazonEC2"),
			Filters: []pricingtypes.Filter{
				productTerm("regionCode", m.Region), productTerm("locationType", "AWS Region"), productTerm("productFamily", family),
			},
		})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, client.Fault(err, "get volume prices of %s", m.Region)
			}
			for _, raw := range page.PriceList {
				if err := addVolume(out, raw, currency(m.Region)); err != nil {
					return nil, client.Refuse(provider.Unavailable, "get volume prices of %s: %w", m.Region, err)
				}
			}
		}
	}
	if len(out) == 0 {
		return nil, client.Refuse(provider.Unavailable, "get volume prices of %s: the list has none", m.Region)
	}
	return out, nil
}

func productTerm(field, value string) pricingtypes.Filter {
	return pricingtypes.Filter{Type: pricingtypes.FilterTypeTermMatch, Field: sdk.String(field), Value: sdk.String(value)}
}

// addVolume reads one product. What is no volume, or is not sold by the month in
// the currency, is passed over. IOPS of io2 are cheaper the more there are: the
// dearest, first tier counts for all.
//
// The list's units are not uniform: storage of io2 is sold by the GB-month and of
// the others by the GB-Mo, IOPS by the IOPS-Mo. Throughput of gp3 is sold by the
// GiBps-mo ($40.96 in us-east-1) where its description and the price page speak
// of MiB/s ($0.04).
// https://aws.amazon.com/ebs/pricing/
func addVolume(out map[string]model.VolumePrice, raw, currency string) error {
	doc, err := parseEntry(raw)
	if err != nil {
		return err
	}
	kind := doc.Product.Attributes.Volume
	if kind == "" {
		return nil
	}
	price := out[kind]
	for _, term := range doc.Terms.OnDemand {
		for _, d := range term.PriceDimensions {
			usd, err := strconv.ParseFloat(d.PricePerUnit[currency], 64)
			if err != nil || !(usd >= 0 && usd < 1e6) {
				continue
			}
			micro := func(share float64) int64 { return int64(math.Round(usd * share * 1e6)) }
			switch strings.ToLower(d.Unit) {
			case "gb-mo", "gb-month":
				price.GiB = max(price.GiB, micro(1))
			case "iops-mo":
				price.IOPS = max(price.IOPS, micro(1))
			case "mibps-mo":
				price.Throughput = max(price.Throughput, micro(1))
			case "gibps-mo":
				price.Throughput = max(price.Throughput, micro(1.0/1024))
			}
		}
	}
	if price != (model.VolumePrice{}) {
		out[kind] = price
	}
	return nil
}
