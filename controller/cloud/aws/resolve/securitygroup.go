package resolve

import (
	"cmp"
	"context"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
)

// SecurityGroups finds the security groups that any of the terms selects,
// sorted by id. Nothing found is an empty list.
func (n *Network) SecurityGroups(ctx context.Context, terms []awsv1.SecurityGroupSelectorTerm) ([]awsv1.SecurityGroup, error) {
	var queries [][]types.Filter
	var ids, names []string
	for _, t := range terms {
		switch {
		case t.ID != "":
			ids = append(ids, t.ID)
		case t.Name != "":
			names = append(names, t.Name)
		default:
			queries = append(queries, client.TagFilters(t.Tags))
		}
	}
	if len(ids) > 0 {
		queries = append(queries, []types.Filter{client.Filter("group-id", ids...)})
	}
	if len(names) > 0 {
		queries = append(queries, []types.Filter{client.Filter("group-name", names...)})
	}
	found := map[string]string{}
	for _, q := range queries {
		pages := ec2.NewDescribeSecurityGroupsPaginator(n.EC2, &ec2.DescribeSecurityGroupsInput{Filters: q})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, client.Fault(err, "describe security groups")
			}
			for _, g := range page.SecurityGroups {
				found[sdk.ToString(g.GroupId)] = sdk.ToString(g.GroupName)
			}
		}
	}
	out := make([]awsv1.SecurityGroup, 0, len(found))
	for id, name := range found {
		out = append(out, awsv1.SecurityGroup{ID: id, Name: name})
	}
	slices.SortFunc(out, func(a, b awsv1.SecurityGroup) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}
