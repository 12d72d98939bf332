package resolve

import (
	"cmp"
	"context"
	"slices"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/availability"
	"spokeshave.dev/controller/cloud/aws/client"
)

// Network finds the subnets and security groups that an EC2NodeClass selects.
type Network struct {
	EC2 client.Network
	// Addresses learns the subnets' free addresses; nil for nobody.
	Addresses *availability.Addresses
	Clock     func() time.Time
}

// Subnets finds the subnets that any of the terms selects, those with the most
// free addresses first. Nothing found is an empty list.
func (n *Network) Subnets(ctx context.Context, terms []awsv1.SubnetSelectorTerm) ([]awsv1.Subnet, error) {
	var queries [][]types.Filter
	var ids []string
	for _, t := range terms {
		if t.ID != "" {
			ids = append(ids, t.ID)
			continue
		}
		queries = append(queries, client.TagFilters(t.Tags))
	}
	if len(ids) > 0 {
		queries = append(queries, []types.Filter{client.Filter("subnet-id", ids...)})
	}
	found := map[string]types.Subnet{}
	for _, q := range queries {
		pages := ec2.NewDescribeSubnetsPaginator(n.EC2, &ec2.DescribeSubnetsInput{Filters: q})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, client.Fault(err, "describe subnets")
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
		if n.Addresses != nil {
			n.Addresses.Learn(sdk.ToString(s.SubnetId), int(sdk.ToInt32(s.AvailableIpAddressCount)), n.Clock())
		}
		out = append(out, awsv1.Subnet{ID: sdk.ToString(s.SubnetId), Zone: sdk.ToString(s.AvailabilityZone), ZoneID: sdk.ToString(s.AvailabilityZoneId)})
	}
	return out, nil
}
