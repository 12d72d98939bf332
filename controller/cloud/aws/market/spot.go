package market

import (
	"context"
	"strconv"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/core/model"
)

// spotPrices asks EC2 for the current spot price of every type and zone.
func (m *Market) spotPrices(ctx context.Context) (map[string]map[string]model.Price, error) {
	now := m.Clock()
	pages := ec2.NewDescribeSpotPriceHistoryPaginator(m.EC2, &ec2.DescribeSpotPriceHistoryInput{
		ProductDescriptions: []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"},
		StartTime:           &now,
	})
	out := map[string]map[string]model.Price{}
	newest := map[pool]int64{}
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, client.Fault(err, "describe spot prices of %s", m.Region)
		}
		for i := range page.SpotPriceHistory {
			addSpotPrice(out, newest, &page.SpotPriceHistory[i])
		}
	}
	return out, nil
}

// pool is a type in a zone.
type pool struct{ instanceType, zone string }

func addSpotPrice(out map[string]map[string]model.Price, newest map[pool]int64, s *types.SpotPrice) {
	usd, err := strconv.ParseFloat(sdk.ToString(s.SpotPrice), 64)
	if err != nil || !(usd > 0 && usd <= model.MaxPrice.USD()) {
		return
	}
	name, zone := string(s.InstanceType), sdk.ToString(s.AvailabilityZone)
	key := pool{instanceType: name, zone: zone}
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
