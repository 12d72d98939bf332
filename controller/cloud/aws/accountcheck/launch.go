package accountcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/launchtemplate"
	"spokeshave.dev/controller/cloud/provider"
)

const (
	// checkTag marks what the checks make, so that people find it.
	checkTag = "spokeshave.dev/check"
	// visibleWithin is how long something that was made may be invisible.
	visibleWithin = 2 * time.Minute
)

// tags are those that the controller sets, which policies ask for, and the checks' own.
func (a *account) tags() map[string]string {
	class := &awsv1.EC2NodeClass{}
	class.Name = "awscheck"
	out := launchtemplate.Tags(a.cluster, class, "")
	out[checkTag] = "true"
	return out
}

// specifications tags resources of the given types.
func (a *account) specifications(of ...types.ResourceType) []types.TagSpecification {
	out := make([]types.TagSpecification, 0, len(of))
	for _, each := range of {
		out = append(out, types.TagSpecification{ResourceType: each, Tags: client.Tags(a.tags())})
	}
	return out
}

// inTemplate tags what is launched from the template. CreateFleet takes no tags of network
// interfaces and spot requests.
func (a *account) inTemplate(of ...types.ResourceType) []types.LaunchTemplateTagSpecificationRequest {
	out := make([]types.LaunchTemplateTagSpecificationRequest, 0, len(of))
	for _, each := range of {
		out = append(out, types.LaunchTemplateTagSpecificationRequest{ResourceType: each, Tags: client.Tags(a.tags())})
	}
	return out
}

// templateInput is the request for the launch template.
func (a *account) templateInput() *ec2.CreateLaunchTemplateInput {
	return &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: sdk.String("spokeshave-check-" + fmt.Sprint(clock.RealClock{}.Now().UnixNano())),
		TagSpecifications:  a.specifications(types.ResourceTypeLaunchTemplate),
		LaunchTemplateData: &types.RequestLaunchTemplateData{
			ImageId: &a.images[0], SecurityGroupIds: a.groups,
			MetadataOptions: &types.LaunchTemplateInstanceMetadataOptionsRequest{InstanceMetadataTags: types.LaunchTemplateInstanceMetadataTagsStateDisabled},
			TagSpecifications: a.inTemplate(
				types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeNetworkInterface, types.ResourceTypeSpotInstancesRequest),
		},
	}
}

// allowed reads the answer to a dry run.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/errors-overview.html
func allowed(err error) (string, error) {
	if api, ok := errors.AsType[smithy.APIError](err); ok && api.ErrorCode() == "DryRunOperation" {
		return "allowed", nil
	}
	if err == nil {
		return "", errors.New("a dry run succeeded; it should be refused with DryRunOperation")
	}
	return "", err
}

func dryTemplate(ctx context.Context, a *account) (string, error) {
	in := a.templateInput()
	in.DryRun = sdk.Bool(true)
	_, err := a.aws.EC2.CreateLaunchTemplate(ctx, in)
	return allowed(err)
}

func template(ctx context.Context, a *account) (string, error) {
	out, err := a.aws.EC2.CreateLaunchTemplate(ctx, a.templateInput())
	if err != nil {
		return "", err
	}
	a.template = sdk.ToString(out.LaunchTemplate.LaunchTemplateId)
	took, err := visible(ctx, func(ctx context.Context) (bool, error) {
		_, err := a.aws.EC2.DescribeLaunchTemplates(ctx, &ec2.DescribeLaunchTemplatesInput{LaunchTemplateIds: []string{a.template}})
		return err == nil, absent(err)
	})
	return fmt.Sprintf("%s, visible after %s", a.template, took), err
}

// fleetInput is the request for one instance of one of the types.
func (a *account) fleetInput(token, capacity string, of ...string) *ec2.CreateFleetInput {
	overrides := []types.FleetLaunchTemplateOverridesRequest{}
	for i, name := range of {
		overrides = append(overrides, types.FleetLaunchTemplateOverridesRequest{
			InstanceType: types.InstanceType(name), SubnetId: &a.subnets[0], Priority: sdk.Float64(0.0042 * float64(i+1)),
		})
	}
	in := &ec2.CreateFleetInput{
		Type: types.FleetTypeInstant, ClientToken: &token,
		TagSpecifications: a.specifications(types.ResourceTypeInstance, types.ResourceTypeVolume, types.ResourceTypeFleet),
		LaunchTemplateConfigs: []types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateId: &a.template, Version: sdk.String("$Latest")},
			Overrides:                   overrides,
		}},
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{
			TotalTargetCapacity: sdk.Int32(1), DefaultTargetCapacityType: types.DefaultTargetCapacityType(capacity),
		},
	}
	if capacity == awsSpot {
		in.SpotOptions = &types.SpotOptionsRequest{AllocationStrategy: types.SpotAllocationStrategyCapacityOptimizedPrioritized}
		return in
	}
	in.OnDemandOptions = &types.OnDemandOptionsRequest{AllocationStrategy: types.FleetOnDemandAllocationStrategyPrioritized}
	return in
}

const (
	awsOnDemand = string(types.DefaultTargetCapacityTypeOnDemand)
	awsSpot     = string(types.DefaultTargetCapacityTypeSpot)
)

// smallest are x86_64 types that cost about a cent an hour.
func smallest() []string { return []string{"t3.micro", "t3a.micro", "t3.small"} }

func dryFleet(ctx context.Context, a *account) (string, error) {
	in := a.fleetInput(token(a, "dry"), awsOnDemand, smallest()...)
	in.DryRun = sdk.Bool(true)
	_, err := a.aws.EC2.CreateFleet(ctx, in)
	return allowed(err)
}

// token is a client token of this run.
func token(a *account, what string) string { return a.template + "-" + what }

// launch asks for one instance, twice with the same token, and waits for its tags.
func (a *account) launch(ctx context.Context, capacity string) (string, error) {
	in := a.fleetInput(token(a, capacity), capacity, smallest()...)
	ids := []string{}
	for range 2 {
		out, err := a.aws.EC2.CreateFleet(ctx, in)
		if err != nil {
			return "", err
		}
		if len(out.Instances) == 0 {
			return "", fmt.Errorf("nothing was launched: %s", refusals(out.Errors))
		}
		for _, i := range out.Instances {
			ids = append(ids, i.InstanceIds...)
		}
	}
	for _, id := range ids {
		if !slices.Contains(a.instances, id) {
			a.instances = append(a.instances, id)
		}
	}
	if len(ids) != 2 || ids[0] != ids[1] {
		return "", fmt.Errorf("two requests with one client token made %v, want the same instance twice", ids)
	}
	took, err := visible(ctx, func(ctx context.Context) (bool, error) {
		out, err := a.aws.EC2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: ids[:1]})
		if err != nil || len(out.Reservations) == 0 || len(out.Reservations[0].Instances) == 0 {
			return false, absent(err)
		}
		return client.TagMap(out.Reservations[0].Instances[0].Tags)[checkTag] == "true", nil
	})
	return fmt.Sprintf("%s, visible with its tags after %s", ids[0], took), err
}

func onDemand(ctx context.Context, a *account) (string, error) { return a.launch(ctx, awsOnDemand) }

func spot(ctx context.Context, a *account) (string, error) { return a.launch(ctx, awsSpot) }

// refusals are the errors in a fleet's answer.
func refusals(errs []types.CreateFleetError) string {
	out := make([]string, 0, len(errs))
	for _, e := range errs {
		out = append(out, sdk.ToString(e.ErrorCode)+": "+sdk.ToString(e.ErrorMessage))
	}
	return strings.Join(out, "; ")
}

// end ends what the checks have launched, and sees how EC2 answers.
func end(ctx context.Context, a *account) (string, error) {
	// Interrupted or not: what runs costs money.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), visibleWithin)
	defer cancel()
	ended := a.terminate(ctx)
	_, err := a.aws.EC2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateId: &a.template})
	if err := errors.Join(ended, err); err != nil {
		return "", err
	}
	_, err = a.aws.EC2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{"i-00000000000000000"}})
	if err := refused(err, provider.NotFound); err != nil {
		return "", fmt.Errorf("ending an unknown instance: %w", err)
	}
	return fmt.Sprintf("%v and %s", a.instances, a.template), nil
}

// terminate ends the instances, twice.
func (a *account) terminate(ctx context.Context) error {
	if len(a.instances) == 0 {
		return nil
	}
	for range 2 {
		if _, err := a.aws.EC2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: a.instances}); err != nil {
			return fmt.Errorf("%v may still run: %w", a.instances, err)
		}
	}
	return nil
}

// visible waits until something that was made is seen, and says how long that took.
func visible(ctx context.Context, seen func(context.Context) (bool, error)) (time.Duration, error) {
	start := clock.RealClock{}.Now()
	err := wait.PollUntilContextTimeout(ctx, 500*time.Millisecond, visibleWithin, true, seen)
	return clock.RealClock{}.Since(start).Round(100 * time.Millisecond), err
}

// absent takes NotFound for "not yet": nil for it, err for any other.
func absent(err error) error {
	if err == nil {
		return nil
	}
	if kind, _ := client.Classify(err); kind == provider.NotFound {
		return nil
	}
	return err
}
