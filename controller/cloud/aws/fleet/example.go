package fleet

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Example are the requests that a launch of one instance makes: the launch template, and the
// fleet with that template. EC2 starts the instances of a fleet with RunInstances in the
// caller's name; Run is that request.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-prerequisites.html#ec2-fleet-iam-users
type Example struct {
	Template *ec2.CreateLaunchTemplateInput
	Run      *ec2.RunInstancesInput
	Fleet    *ec2.CreateFleetInput
}

// Example makes the requests for one instance of the option, for no NodePool. It sends
// nothing.
func (l *Launcher) Example(ctx context.Context, class *awsv1.EC2NodeClass, option model.Option) (*Example, error) {
	spec := &provider.LaunchSpec{NodeClass: class.Name, Options: []model.Option{option}}
	of, err := ingredientsOf(ctx, l, class, spec)
	if err != nil {
		return nil, err
	}
	o := &of.overrides[0]
	boot, err := o.boot(of.boot, class, of.node)
	if err != nil {
		return nil, err
	}
	template, err := l.cfg.Templates.Input(class, boot)
	if err != nil {
		return nil, err
	}
	w := &wanted{
		overrides: of.overrides, templates: map[string]string{o.template(): *template.LaunchTemplateName},
		tags: sharedTags(l.cfg.Cluster, class, spec), context: class.Spec.Context,
	}
	in := w.input()
	in.TargetCapacitySpecification.TotalTargetCapacity = sdk.Int32(1)
	return &Example{Template: template, Run: run(o, template, in), Fleet: in}, nil
}

// run is the request with which EC2 starts the only instance of a fleet.
func run(o *override, template *ec2.CreateLaunchTemplateInput, in *ec2.CreateFleetInput) *ec2.RunInstancesInput {
	out := &ec2.RunInstancesInput{
		MinCount: sdk.Int32(1), MaxCount: sdk.Int32(1), InstanceType: types.InstanceType(o.InstanceType),
		LaunchTemplate: &types.LaunchTemplateSpecification{LaunchTemplateName: template.LaunchTemplateName, Version: sdk.String("$Latest")},
	}
	for _, t := range in.TagSpecifications {
		if t.ResourceType != types.ResourceTypeFleet {
			out.TagSpecifications = append(out.TagSpecifications, t)
		}
	}
	out.TagSpecifications = append(out.TagSpecifications, ofInterfaces(template.LaunchTemplateData)...)
	out.SubnetId, out.NetworkInterfaces = attached(o.subnet, template.LaunchTemplateData.NetworkInterfaces)
	return out
}

// ofInterfaces are the tags that a template gives to network interfaces: tags of the request
// replace all of the template's.
func ofInterfaces(data *types.RequestLaunchTemplateData) []types.TagSpecification {
	var out []types.TagSpecification
	for _, t := range data.TagSpecifications {
		if t.ResourceType == types.ResourceTypeNetworkInterface {
			out = append(out, types.TagSpecification{ResourceType: t.ResourceType, Tags: t.Tags})
		}
	}
	return out
}

// attached names the subnet where EC2 takes it: at the first network interface where the
// template describes interfaces, else by itself.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_RunInstances.html
func attached(subnet string, described []types.LaunchTemplateInstanceNetworkInterfaceSpecificationRequest) (*string, []types.InstanceNetworkInterfaceSpecification) {
	for i := range described {
		if n := &described[i]; sdk.ToInt32(n.DeviceIndex) == 0 && sdk.ToInt32(n.NetworkCardIndex) == 0 {
			return nil, []types.InstanceNetworkInterfaceSpecification{{
				DeviceIndex: sdk.Int32(0), SubnetId: sdk.String(subnet), Groups: n.Groups, AssociatePublicIpAddress: n.AssociatePublicIpAddress,
			}}
		}
	}
	return sdk.String(subnet), nil
}
