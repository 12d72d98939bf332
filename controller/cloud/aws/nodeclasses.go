package aws

import (
	"context"
	"fmt"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/availability"
	"spokeshave.dev/controller/cloud/aws/bootstrap"
	"spokeshave.dev/controller/cloud/aws/dryrun"
	"spokeshave.dev/controller/cloud/aws/fleet"
	"spokeshave.dev/controller/cloud/aws/launchtemplate"
	"spokeshave.dev/controller/cloud/aws/market"
	"spokeshave.dev/controller/cloud/aws/resolve"
	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// NodeClasses finds what EC2NodeClasses name and select, and deletes what was made for
// them. Package nodeclass resolves classes with it, package upkeep sweeps with it.
type NodeClasses struct {
	cluster      string
	network      *resolve.Network
	images       *resolve.Images
	groups       *resolve.PlacementGroups
	profiles     *resolve.Profiles
	reservations *availability.Reservations
	templates    *launchtemplate.Templates
	catalogue    *market.Catalogue
	metrics      *fleet.Metrics
}

// NodeClasses is what EC2NodeClasses are resolved with.
func (p *Provider) NodeClasses() *NodeClasses { return p.nodeClasses }

// DryRuns asks EC2 whether launches from classes are allowed.
func (p *Provider) DryRuns() *dryrun.Checker { return p.dryRuns }

// Validate finds what is wrong with a class that the API server let pass: user
// data that cannot be merged, kubelet settings that do not parse, and what this
// version does not support. It asks nothing of AWS.
func (c *NodeClasses) Validate(class *awsv1.EC2NodeClass) error {
	if _, err := catalog.ForClass(class); err != nil {
		return &provider.Error{Kind: provider.Invalid, Err: err}
	}
	if err := validateInterfaces(&class.Spec); err != nil {
		return &provider.Error{Kind: provider.Invalid, Err: err}
	}
	example := bootstrap.NodeOf(class, bootstrap.Cluster{Name: c.cluster, Endpoint: "https://c", CA: "Yw==", ServiceCIDR: "10.100.0.0/16"}, &provider.LaunchSpec{
		NodePool: "p", Options: []model.Option{{CapacityType: model.OnDemand}},
	})
	if _, err := bootstrap.UserData(class, example); err != nil {
		return &provider.Error{Kind: provider.Invalid, Err: err}
	}
	return nil
}

// validateInterfaces finds interfaces that EC2 refuses on every type.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-instance-addressing.html
func validateInterfaces(spec *awsv1.EC2NodeClassSpec) error {
	withIP := 0
	for _, n := range spec.NetworkInterfaces {
		if n.InterfaceType != awsv1.InterfaceTypeEFAOnly {
			withIP++
		}
	}
	if public := spec.AssociatePublicIPAddress; public != nil && *public && withIP > 1 {
		return fmt.Errorf("spec.associatePublicIPAddress: EC2 gives a public address only to an instance with one interface with IP addresses, and spec.networkInterfaces has %d", withIP)
	}
	return nil
}

// Subnets are those that any of the terms selects, those with the most free addresses
// first.
func (c *NodeClasses) Subnets(ctx context.Context, terms []awsv1.SubnetSelectorTerm) ([]awsv1.Subnet, error) {
	return c.network.Subnets(ctx, terms)
}

// SecurityGroups are those that any of the terms selects, sorted by id.
func (c *NodeClasses) SecurityGroups(ctx context.Context, terms []awsv1.SecurityGroupSelectorTerm) ([]awsv1.SecurityGroup, error) {
	return c.network.SecurityGroups(ctx, terms)
}

// Images are the machine images that the class selects.
func (c *NodeClasses) Images(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.AMI, error) {
	return c.images.Select(ctx, class)
}

// CapacityReservations are the active reservations that the class selects, sorted by id.
func (c *NodeClasses) CapacityReservations(ctx context.Context, class *awsv1.EC2NodeClass) ([]awsv1.CapacityReservation, error) {
	return c.reservations.Find(ctx, class)
}

// PlacementGroup checks that the group that a class names exists and takes instances.
// Nil names none.
func (c *NodeClasses) PlacementGroup(ctx context.Context, selector *awsv1.PlacementGroupSelector) error {
	return c.groups.Check(ctx, selector)
}

// InstanceProfile is the class's instance profile: the one it names, or the one for its
// role, which is made when it is missing.
func (c *NodeClasses) InstanceProfile(ctx context.Context, class *awsv1.EC2NodeClass) (string, error) {
	return c.profiles.For(ctx, class)
}

// DeleteInstanceProfile removes the profile made for a role. A profile that is gone
// already is no error.
func (c *NodeClasses) DeleteInstanceProfile(ctx context.Context, role string) error {
	return c.profiles.Delete(ctx, role)
}

// DeleteTemplates deletes every launch template of a class in this cluster, its catalogue
// and what metrics say of it.
func (c *NodeClasses) DeleteTemplates(ctx context.Context, class string) error {
	c.metrics.ForgetClass(class)
	c.catalogue.Forget(class)
	return c.templates.Delete(ctx, class)
}

// SweepTemplates deletes this cluster's launch templates that were not used in a while,
// and says how many.
func (c *NodeClasses) SweepTemplates(ctx context.Context) (deleted int, err error) {
	return c.templates.Sweep(ctx)
}

// SweepProfiles deletes the instance profiles that were made in this cluster and region, by
// this controller or by Karpenter, and are not in use any more. It says how many.
func (c *NodeClasses) SweepProfiles(ctx context.Context, use resolve.ProfileUse) (deleted int, err error) {
	return c.profiles.Sweep(ctx, use)
}
