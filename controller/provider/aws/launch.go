package aws

import (
	"context"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/model"
	"spokeshave.dev/controller/provider"
)

// Prepare implements provider.Provider: one CreateFleet request of type instant
// for one instance, and the launch templates it names.
func (p *Provider) Prepare(ctx context.Context, spec provider.LaunchSpec) (provider.Attempt, error) {
	attempt, err := p.prepare(ctx, &spec)
	if err != nil {
		return provider.Attempt{}, fault(err, "prepare launch of %s", spec.Claim)
	}
	return attempt, nil
}

func (p *Provider) prepare(ctx context.Context, spec *provider.LaunchSpec) (provider.Attempt, error) {
	class, err := p.class(ctx, spec.NodeClass)
	if err != nil {
		return provider.Attempt{}, err
	}
	overrides, err := p.overrides(ctx, class, spec)
	if err != nil {
		return provider.Attempt{}, err
	}
	details, err := p.clusterDetails(ctx)
	if err != nil {
		return provider.Attempt{}, err
	}
	data, err := userData(class, joinOf(class, details, spec))
	if err != nil {
		return provider.Attempt{}, refuse(provider.ClassNotReady, "EC2NodeClass %s: %w", class.Name, err)
	}
	templates := map[string]string{}
	for i := range overrides {
		image := overrides[i].image
		if templates[image] != "" {
			continue
		}
		if templates[image], err = p.ensureTemplate(ctx, class, image, data); err != nil {
			return provider.Attempt{}, err
		}
	}
	in := fleetRequest(overrides, templates, ec2Tags(p.instanceTags(class, spec)))
	in.Context = class.Spec.Context
	attempt, err := sealed(in, spec)
	if err != nil {
		return provider.Attempt{}, refuse(provider.Invalid, "%w", err)
	}
	return attempt, nil
}

// overrides resolves the options to images and subnets.
func (p *Provider) overrides(ctx context.Context, class *awsv1.EC2NodeClass, spec *provider.LaunchSpec) ([]override, error) {
	if len(spec.Options) == 0 {
		return nil, refuse(provider.Invalid, "no option given")
	}
	if ct := spec.Options[0].CapacityType; ct != model.OnDemand && ct != model.Spot {
		return nil, refuse(provider.Invalid, "capacity type %q is not supported yet; on-demand and spot are", ct)
	}
	catalog, err := p.catalogOf(ctx, class)
	if err != nil {
		return nil, err
	}
	labels := make(map[string]map[string]string, len(catalog.Types))
	for i := range catalog.Types {
		labels[catalog.Types[i].Name] = catalog.Types[i].Labels
	}
	// Subnets are sorted by free addresses: the first of a zone is the one to use.
	subnets := map[string]string{}
	for _, s := range slices.Backward(class.Status.Subnets) {
		subnets[s.Zone] = s.ID
	}
	var out []override
	for _, o := range leading(spec.Options) {
		known, ok := labels[o.InstanceType]
		if !ok {
			return nil, refuse(provider.Invalid, "EC2NodeClass %s cannot launch %s: it is not offered in zones of its subnets, or no AMI of its fits", class.Name, o.InstanceType)
		}
		subnet, ok := subnets[o.Zone]
		if !ok {
			return nil, refuse(provider.Invalid, "EC2NodeClass %s has no subnet in zone %s", class.Name, o.Zone)
		}
		out = append(out, override{Option: o, image: imageFor(class.Status.AMIs, known).ID, subnet: subnet})
	}
	return out, nil
}

// Launch implements provider.Provider. It sends exactly what was written down.
func (p *Provider) Launch(ctx context.Context, attempt provider.Attempt) (provider.Instance, error) {
	in, err := decodeRequest(&attempt)
	if err != nil {
		return provider.Instance{}, refuse(provider.Invalid, "launch %v: %w", attempt.Claims, err)
	}
	claim := attempt.Claims[0]
	out, err := p.sdk.EC2.CreateFleet(ctx, in)
	if err != nil {
		return p.adopt(ctx, claim, in, fault(err, "launch %s", claim))
	}
	for i := range out.Instances {
		if len(out.Instances[i].InstanceIds) > 0 {
			p.learn(in, out.Errors)
			launched := p.launched(in, &out.Instances[i])
			p.remember(&launched)
			return launched, nil
		}
	}
	return provider.Instance{}, p.refused(claim, in, out.Errors)
}

// adopt looks for an instance that an earlier, unanswered try of the attempt
// started, before its call is declared to have failed for good.
func (p *Provider) adopt(ctx context.Context, claim string, in fleetInput, failure error) (provider.Instance, error) {
	kind := provider.KindOf(failure)
	if !kind.Definitive() {
		return provider.Instance{}, failure
	}
	if kind == provider.NotFound || kind == provider.Invalid {
		for i := range in.LaunchTemplateConfigs {
			p.forgetTemplate(sdk.ToString(in.LaunchTemplateConfigs[i].LaunchTemplateSpecification.LaunchTemplateName))
		}
	}
	found, err := p.describe(ctx, filter("tag:"+awsv1.TagNodeClaim, claim),
		filter("tag:"+awsv1.TagEKSCluster, p.cfg.ClusterName),
		filter("instance-state-name", "pending", "running"))
	if err != nil {
		// Whether something was started is unknown after all.
		return provider.Instance{}, refuse(provider.Unavailable, "%w; and look for its instance: %w", unkinded(failure), unkinded(err))
	}
	if len(found) == 0 {
		return provider.Instance{}, failure
	}
	return found[0], nil
}

// launched is what the answer to CreateFleet says of the instance; Get knows more.
func (p *Provider) launched(in fleetInput, i *types.CreateFleetInstance) provider.Instance {
	out := provider.Instance{
		State:        string(types.InstanceStateNamePending),
		InstanceType: string(i.InstanceType),
		CapacityType: capacityType(in),
		Tags:         map[string]string{},
	}
	if i.Lifecycle == types.InstanceLifecycleSpot {
		out.CapacityType = model.Spot
	}
	sent, template := sentOverride(in, out.InstanceType, i.LaunchTemplateAndOverrides)
	out.Zone = sdk.ToString(sent.AvailabilityZone)
	if zone := sdk.ToString(i.AvailabilityZone); zone != "" {
		out.Zone = zone
	}
	out.ZoneID = sdk.ToString(i.AvailabilityZoneId)
	out.ImageID = imageOf(template)
	for _, t := range in.TagSpecifications {
		if t.ResourceType == types.ResourceTypeInstance {
			out.Tags = mapTags(t.Tags)
		}
	}
	out.Claim, out.NodePool = out.Tags[awsv1.TagNodeClaim], out.Tags[awsv1.TagNodePool]
	out.ProviderID = ProviderID(out.Zone, i.InstanceIds[0])
	return out
}
