package accountcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"
	"k8s.io/utils/clock"

	"spokeshave.dev/controller/cloud/catalog"
)

// instanceTypes compares EC2's facts with the embedded ones, where the region is embedded.
func instanceTypes(ctx context.Context, a *account) (string, error) {
	known := map[string]catalog.Type{}
	embedded, _, err := catalog.Load(a.region)
	if err != nil && !errors.Is(err, catalog.ErrUnknownRegion) {
		return "", err
	}
	for i := range embedded {
		known[embedded[i].Name] = embedded[i]
	}
	total, unknown, other := 0, 0, []string{}
	pages := ec2.NewDescribeInstanceTypesPaginator(a.aws.EC2, &ec2.DescribeInstanceTypesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", err
		}
		for i := range page.InstanceTypes {
			it := &page.InstanceTypes[i]
			total++
			k, ok := known[string(it.InstanceType)]
			switch {
			case !ok:
				unknown++
			case it.VCpuInfo == nil || it.MemoryInfo == nil:
				return "", fmt.Errorf("%s has no vCPUs or no memory", it.InstanceType)
			case k.VCPU != int(sdk.ToInt32(it.VCpuInfo.DefaultVCpus)) || k.MemoryMiB != sdk.ToInt64(it.MemoryInfo.SizeInMiB):
				other = append(other, k.Name)
			}
		}
	}
	if total == 0 {
		return "", errors.New("EC2 knows no instance type")
	}
	if len(other) > 0 {
		return "", fmt.Errorf("%d of %d types have other vCPUs or memory than the embedded catalogue: %q", len(other), total, other)
	}
	return fmt.Sprintf("%d, of which %d are not in the embedded catalogue of the region", total, unknown), nil
}

func zones(ctx context.Context, a *account) (string, error) {
	offered := map[string]int{}
	pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(a.aws.EC2, &ec2.DescribeInstanceTypeOfferingsInput{LocationType: types.LocationTypeAvailabilityZone})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", err
		}
		for _, o := range page.InstanceTypeOfferings {
			offered[sdk.ToString(o.Location)]++
		}
	}
	if len(offered) == 0 {
		return "", errors.New("no zone offers anything")
	}
	return fmt.Sprint(offered), nil
}

// product is what is read of an entry of the price list.
type product struct {
	Product struct {
		Attributes struct{ InstanceType string }
	}
	Terms struct {
		OnDemand map[string]struct {
			PriceDimensions map[string]struct {
				Unit         string
				PricePerUnit map[string]string
			}
		}
	}
}

// amount is the only price of the product in any currency and unit, 0 when it has none.
func (p product) amount() (value float64, currency string) {
	for _, term := range p.Terms.OnDemand {
		for _, d := range term.PriceDimensions {
			for currency, text := range d.PricePerUnit {
				if v, err := strconv.ParseFloat(text, 64); err == nil && v > 0 {
					return v, currency
				}
			}
		}
	}
	return 0, ""
}

// products asks the price list of the region.
func products(ctx context.Context, a *account, terms map[string]string) ([]product, error) {
	filters := []pricingtypes.Filter{}
	for field, value := range terms {
		filters = append(filters, pricingtypes.Filter{Type: pricingtypes.FilterTypeTermMatch, Field: &field, Value: &value})
	}
	var out []product
	pages := pricing.NewGetProductsPaginator(a.aws.Pricing, &pricing.GetProductsInput{ServiceCode: sdk.String("AmazonEC2"), Filters: filters})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, raw := range page.PriceList {
			var p product
			if err := json.Unmarshal([]byte(raw), &p); err != nil {
				return nil, fmt.Errorf("an entry of the price list cannot be read: %w", err)
			}
			out = append(out, p)
		}
	}
	return out, nil
}

// prices compares the price list with the embedded prices, where the region is embedded.
func prices(ctx context.Context, a *account) (string, error) {
	all, err := products(ctx, a, map[string]string{
		"regionCode": a.region, "operatingSystem": "Linux", "preInstalledSw": "NA", "tenancy": "Shared", "capacitystatus": "Used", "marketoption": "OnDemand",
	})
	if err != nil {
		return "", err
	}
	_, sales, err := catalog.Load(a.region)
	if err != nil && !errors.Is(err, catalog.ErrUnknownRegion) {
		return "", err
	}
	embedded := map[string]float64{}
	for _, s := range sales {
		embedded[s.Type] = s.OnDemand.USD()
	}
	priced, currency, ratios := 0, "", []float64{}
	for _, p := range all {
		amount, in := p.amount()
		if amount == 0 {
			continue
		}
		priced, currency = priced+1, in
		if e := embedded[p.Product.Attributes.InstanceType]; e > 0 {
			ratios = append(ratios, amount/e)
		}
	}
	if priced == 0 {
		return "", fmt.Errorf("none of %d entries has a price", len(all))
	}
	out := fmt.Sprintf("%d types priced in %s", priced, currency)
	if len(ratios) > 0 {
		slices.Sort(ratios)
		out += fmt.Sprintf("; against the embedded prices: least %.2f, median %.2f, most %.2f", ratios[0], ratios[len(ratios)/2], ratios[len(ratios)-1])
	}
	return out, nil
}

func volumePrices(ctx context.Context, a *account) (string, error) {
	all, err := products(ctx, a, map[string]string{"regionCode": a.region, "productFamily": "Storage", "volumeApiName": "gp3"})
	if err != nil {
		return "", err
	}
	for _, p := range all {
		if amount, currency := p.amount(); amount > 0 {
			return fmt.Sprintf("gp3: %g %s for a GB and month", amount, currency), nil
		}
	}
	return "", errors.New("gp3 has no price")
}

func spotPrices(ctx context.Context, a *account) (string, error) {
	now := clock.RealClock{}.Now()
	pools := map[string]bool{}
	pages := ec2.NewDescribeSpotPriceHistoryPaginator(a.aws.EC2, &ec2.DescribeSpotPriceHistoryInput{ProductDescriptions: []string{"Linux/UNIX"}, StartTime: &now})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return "", err
		}
		for _, p := range page.SpotPriceHistory {
			if _, err := strconv.ParseFloat(sdk.ToString(p.SpotPrice), 64); err != nil {
				return "", fmt.Errorf("price of %s: %w", p.InstanceType, err)
			}
			pools[string(p.InstanceType)+"/"+sdk.ToString(p.AvailabilityZone)] = true
		}
	}
	if len(pools) == 0 {
		return "", errors.New("nothing has a spot price")
	}
	return fmt.Sprintf("%d pools of type and zone", len(pools)), nil
}
