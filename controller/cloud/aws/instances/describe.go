package instances

import (
	"context"
	"slices"
	"strconv"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Living is a filter for the states before terminated.
func Living() types.Filter {
	return client.Filter("instance-state-name", "pending", "running", "shutting-down", "stopping", "stopped")
}

// Find describes the instances that all filters select, terminated ones included, as EC2
// shows them now.
func (s *Instances) Find(ctx context.Context, filters ...types.Filter) ([]provider.Instance, error) {
	out := []provider.Instance{}
	pages := ec2.NewDescribeInstancesPaginator(s.cfg.EC2, &ec2.DescribeInstancesInput{Filters: filters, MaxResults: sdk.Int32(1000)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, client.Fault(err, "describe instances")
		}
		for _, r := range page.Reservations {
			for i := range r.Instances {
				out = append(out, instanceOf(&r.Instances[i]))
			}
		}
	}
	return out, nil
}

func instanceOf(i *types.Instance) provider.Instance {
	out := provider.Instance{
		InstanceType: string(i.InstanceType),
		CapacityType: model.OnDemand,
		ImageID:      sdk.ToString(i.ImageId),
		Hostname:     sdk.ToString(i.PrivateDnsName),
		LaunchTime:   sdk.ToTime(i.LaunchTime),
		Tags:         client.TagMap(i.Tags),
	}
	if i.State != nil {
		out.State = string(i.State.Name)
	}
	if i.InstanceLifecycle == types.InstanceLifecycleTypeSpot {
		out.CapacityType = model.Spot
	}
	if i.Placement != nil {
		out.Zone, out.ZoneID = sdk.ToString(i.Placement.AvailabilityZone), sdk.ToString(i.Placement.AvailabilityZoneId)
	}
	out.SubnetID, out.ReservationID = sdk.ToString(i.SubnetId), sdk.ToString(i.CapacityReservationId)
	// An open reservation takes in instances that never asked for it.
	if c := i.CapacityReservationSpecification; out.ReservationID != "" && c != nil && c.CapacityReservationTarget != nil {
		out.CapacityType = model.Reserved
	}
	if i.Placement != nil {
		out.PlacementGroupID = sdk.ToString(i.Placement.GroupId)
		if n := sdk.ToInt32(i.Placement.PartitionNumber); n > 0 {
			out.Labels = map[string]string{awsv1.LabelPlacementGroupPartition: strconv.Itoa(int(n))}
		}
	}
	for _, g := range i.SecurityGroups {
		out.SecurityGroups = append(out.SecurityGroups, sdk.ToString(g.GroupId))
	}
	slices.Sort(out.SecurityGroups)
	out.Claim, out.NodePool = out.Tags[awsv1.TagNodeClaim], out.Tags[awsv1.TagNodePool]
	out.ProviderID = ProviderID(out.Zone, sdk.ToString(i.InstanceId))
	return out
}
