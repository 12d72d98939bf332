package aws

import (
	"cmp"
	"context"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// Subnets finds the subnets that any of the terms selects, those with the most
// free addresses first. Nothing found is an empty list.
func (p *Provider) Subnets(ctx context.Context, terms []awsv1.SubnetSelectorTerm) ([]awsv1.Subnet, error) {
	var queries [][]types.Filter
	var ids []string
	for _, t := range terms {
		if t.ID != "" {
			ids = append(ids, t.ID)
			continue
		}
		queries = append(queries, tagFilters(t.Tags))
	}
	if len(ids) > 0 {
		queries = append(queries, []types.Filter{filter("subnet-id", ids...)})
	}
	found := map[string]types.Subnet{}
	for _, q := range queries {
		pages := ec2.NewDescribeSubnetsPaginator(p.sdk.EC2, &ec2.DescribeSubnetsInput{Filters: q})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, fault(err, "describe subnets")
			}
			for _, s := range page.Subnets {
				found[sdk.ToString(s.SubnetId)] = s
			}
		}
	}
	all := make([]types.Subnet, 0, len(found))
	for _, s := range found {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b types.Subnet) int {
		return cmp.Or(
			cmp.Compare(sdk.ToInt32(b.AvailableIpAddressCount), sdk.ToInt32(a.AvailableIpAddressCount)),
			cmp.Compare(sdk.ToString(a.SubnetId), sdk.ToString(b.SubnetId)))
	})
	out := make([]awsv1.Subnet, 0, len(all))
	for _, s := range all {
		out = append(out, awsv1.Subnet{ID: sdk.ToString(s.SubnetId), Zone: sdk.ToString(s.AvailabilityZone), ZoneID: sdk.ToString(s.AvailabilityZoneId)})
	}
	return out, nil
}
