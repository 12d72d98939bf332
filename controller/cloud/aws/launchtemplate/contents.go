package launchtemplate

import (
	"encoding/base64"
	"maps"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/core/model"
)

// contents are what a launch template of a class says.
func contents(cluster string, class *awsv1.EC2NodeClass, b Boot) *types.RequestLaunchTemplateData {
	spec := &class.Spec
	out := &types.RequestLaunchTemplateData{
		ImageId:             sdk.String(b.Image),
		IamInstanceProfile:  &types.LaunchTemplateIamInstanceProfileSpecificationRequest{Name: sdk.String(class.Status.InstanceProfile)},
		BlockDeviceMappings: templateDisks(class.Disks()),
		MetadataOptions:     metadataOptions(class),
		Monitoring:          &types.LaunchTemplatesMonitoringRequest{Enabled: sdk.Bool(sdk.ToBool(spec.DetailedMonitoring))},
		TagSpecifications:   tagSpecifications(b.Bought, client.Tags(Tags(cluster, class, b.NodePool))),
	}
	if b.UserData != "" {
		out.UserData = sdk.String(base64.StdEncoding.EncodeToString([]byte(b.UserData)))
	}
	draw(out, b)
	out.Placement = placement(spec.PlacementGroupSelector, b)
	if b.Enclaves {
		out.EnclaveOptions = &types.LaunchTemplateEnclaveOptionsRequest{Enabled: sdk.Bool(true)}
	}
	groups := make([]string, 0, len(class.Status.SecurityGroups))
	for _, g := range class.Status.SecurityGroups {
		groups = append(groups, g.ID)
	}
	// Security groups and interfaces exclude each other.
	if out.NetworkInterfaces = interfaces(spec, groups, b); len(out.NetworkInterfaces) == 0 {
		out.SecurityGroupIds = groups
	}
	if spec.CPUOptions != nil && spec.CPUOptions.NestedVirtualization != nil {
		out.CpuOptions = &types.LaunchTemplateCpuOptionsRequest{
			NestedVirtualization: types.NestedVirtualizationSpecification(*spec.CPUOptions.NestedVirtualization),
		}
	}
	return out
}

// placement says where in the zone the instance runs: in a placement group, in one of its
// partitions, on hardware of its own. Nil leaves all to EC2.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplatePlacementRequest.html
func placement(group *awsv1.PlacementGroupSelector, b Boot) *types.LaunchTemplatePlacementRequest {
	if group == nil && b.Tenancy == "" {
		return nil
	}
	out := &types.LaunchTemplatePlacementRequest{Tenancy: types.Tenancy(b.Tenancy)}
	if group != nil {
		out.GroupId, out.GroupName = group.ID, group.Name
		if b.Partition > 0 {
			out.PartitionNumber = sdk.Int32(b.Partition)
		}
	}
	return out
}

// tagSpecifications tag what a request for instances cannot: their network interfaces, and
// the requests for spot instances, which IAM policies allow only with the cluster's tags.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateTagSpecificationRequest.html
func tagSpecifications(bought model.CapacityType, tags []types.Tag) []types.LaunchTemplateTagSpecificationRequest {
	out := []types.LaunchTemplateTagSpecificationRequest{{ResourceType: types.ResourceTypeNetworkInterface, Tags: tags}}
	if bought == model.Spot {
		out = append(out, types.LaunchTemplateTagSpecificationRequest{ResourceType: types.ResourceTypeSpotInstancesRequest, Tags: tags})
	}
	return out
}

// draw says which reservation the instance is launched into. What is planned and billed
// as on demand uses none, not even an open one, which would be taken from those it is kept
// for. EC2 takes a target or a preference.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_LaunchTemplateCapacityReservationSpecificationRequest.html
func draw(out *types.RequestLaunchTemplateData, b Boot) {
	switch {
	case b.Reservation != nil:
		out.CapacityReservationSpecification = &types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationTarget: &types.CapacityReservationTarget{CapacityReservationId: sdk.String(b.Reservation.ID)},
		}
		if b.Reservation.Interruptible {
			out.InstanceMarketOptions = &types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: types.MarketTypeInterruptibleCapacityReservation}
		}
		if b.Reservation.ReservationType == awsv1.ReservationTypeCapacityBlock {
			out.InstanceMarketOptions = &types.LaunchTemplateInstanceMarketOptionsRequest{MarketType: types.MarketTypeCapacityBlock}
		}
	case b.Bought == model.OnDemand:
		out.CapacityReservationSpecification = &types.LaunchTemplateCapacityReservationSpecificationRequest{
			CapacityReservationPreference: types.CapacityReservationPreferenceNone,
		}
	}
}

func metadataOptions(class *awsv1.EC2NodeClass) *types.LaunchTemplateInstanceMetadataOptionsRequest {
	full := class.DeepCopy()
	full.SetDefaults()
	m := full.Spec.MetadataOptions
	return &types.LaunchTemplateInstanceMetadataOptionsRequest{
		HttpEndpoint:            types.LaunchTemplateInstanceMetadataEndpointState(*m.HTTPEndpoint),
		HttpProtocolIpv6:        types.LaunchTemplateInstanceMetadataProtocolIpv6(*m.HTTPProtocolIPv6),
		HttpPutResponseHopLimit: narrow(m.HTTPPutResponseHopLimit),
		// An account may turn them on for all instances; our tags' keys have slashes, which
		// EC2 then refuses.
		InstanceMetadataTags: types.LaunchTemplateInstanceMetadataTagsStateDisabled,
		HttpTokens:           types.LaunchTemplateHttpTokensState(*m.HTTPTokens),
	}
}

// Tags are the tags of everything made for the nodes of a class and a NodePool, "" for
// NodeClaims of none. The IAM policy that Karpenter documents allows templates, fleets and
// instances only with the NodePool's tag, whatever its value.
// https://karpenter.sh/docs/reference/cloudformation/
func Tags(cluster string, class *awsv1.EC2NodeClass, pool string) map[string]string {
	out := maps.Clone(class.Spec.Tags)
	if out == nil {
		out = map[string]string{}
	}
	out[awsv1.TagEC2NodeClass] = class.Name
	out[awsv1.TagNodePool] = pool
	out[awsv1.TagEKSCluster] = cluster
	out[awsv1.TagClusterPrefix+cluster] = awsv1.TagClusterOwned
	return out
}
