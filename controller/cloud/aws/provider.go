package aws

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/availability"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/dryrun"
	"spokeshave.dev/controller/cloud/aws/events"
	"spokeshave.dev/controller/cloud/aws/fleet"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/aws/market"
	"spokeshave.dev/controller/cloud/aws/refresh"
	"spokeshave.dev/controller/cloud/aws/resolve"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Provider implements provider.Provider on EC2 by putting the packages below together.
// Make it with New.
//
// Size: one method for each method of the ports it implements.
type Provider struct {
	region, cluster string
	classes         func(ctx context.Context, name string) (*awsv1.EC2NodeClass, error)
	clock           func() time.Time
	driftCA         string

	market    *market.Market
	sources   *refresh.Sources
	catalogue *market.Catalogue
	available available
	instances *instances.Instances
	launcher  *fleet.Launcher
	queue     *events.Queue
	watch     *events.Watch

	nodeClasses     *NodeClasses
	placementGroups *resolve.PlacementGroups
	dryRuns         *dryrun.Checker
}

// available is what cannot be had of the offer at the moment, or only here.
type available struct {
	shortage     *availability.Shortage
	reservations *availability.Reservations
	shifts       *availability.ZonalShifts
	// shiftAge is that of the shifts, which are not read among the sources.
	shiftAge *refresh.Source
}

var (
	_ provider.Provider  = (*Provider)(nil)
	_ provider.Announcer = (*Provider)(nil)
)

// Region is the region the provider works in.
func (p *Provider) Region() string { return p.region }

// Cluster is the name of the cluster that instances are launched for.
func (p *Provider) Cluster() string { return p.cluster }

// DriftCA is Config.DriftCA.
func (p *Provider) DriftCA() string { return p.driftCA }

// Catalog implements provider.Provider: what the class can launch in the zones
// of its subnets, on the architectures of its images, with what its kubelet settings leave
// to pods. It asks nothing of AWS: Sources are read in the background, and until types and
// zones were read for the first time the embedded catalogue serves, marked as provisional.
// The answer is shared; callers do not change it.
func (p *Provider) Catalog(ctx context.Context, nodeClass string) (model.Catalog, error) {
	class, err := p.class(ctx, nodeClass)
	if err != nil {
		p.catalogue.Forget(nodeClass) // it may be gone; one that comes back is lowered anew
		return model.Catalog{}, fmt.Errorf("catalogue: %w", err)
	}
	out, err := p.catalogue.Of(class)
	if err != nil {
		return model.Catalog{}, err
	}
	a, now := &p.available, p.clock()
	a.reservations.Want(class)
	return a.shifts.Apply(now, a.shortage.Apply(now, a.reservations.Apply(class, out), p.placementGroups.Known(class).ID)), nil
}

// Prepare implements provider.Provider.
func (p *Provider) Prepare(ctx context.Context, spec provider.LaunchSpec) (provider.Attempt, error) {
	attempt, err := p.prepare(ctx, &spec)
	if err != nil {
		return provider.Attempt{}, client.Fault(err, "prepare launch of %s", spec.Claim)
	}
	return attempt, nil
}

func (p *Provider) prepare(ctx context.Context, spec *provider.LaunchSpec) (provider.Attempt, error) {
	class, err := p.class(ctx, spec.NodeClass)
	if err != nil {
		return provider.Attempt{}, err
	}
	attempt, err := p.launcher.Prepare(ctx, class, spec)
	if err != nil {
		return provider.Attempt{}, err
	}
	attempt.Annotations, err = launchAnnotations(class, p.driftCA)
	return attempt, err
}

// Launch implements provider.Provider.
func (p *Provider) Launch(ctx context.Context, attempt provider.Attempt) (provider.Instance, error) {
	return p.launcher.Launch(ctx, attempt)
}

// Get implements provider.Provider.
func (p *Provider) Get(ctx context.Context, providerID string) (provider.Instance, error) {
	return p.instances.Get(ctx, providerID)
}

// List implements provider.Provider.
func (p *Provider) List(ctx context.Context) ([]provider.Instance, error) {
	return p.instances.List(ctx)
}

// Terminate implements provider.Provider.
func (p *Provider) Terminate(ctx context.Context, providerID string) error {
	err := p.instances.Terminate(ctx, providerID)
	if err == nil || provider.KindOf(err) == provider.NotFound {
		p.launcher.Ended(providerID)
	}
	return err
}

// Tag implements provider.Provider.
func (p *Provider) Tag(ctx context.Context, providerID string, tags map[string]string) error {
	return p.instances.Tag(ctx, providerID, tags)
}

// TagClaim writes the tags of a claim that its instance lacks.
func (p *Provider) TagClaim(ctx context.Context, providerID, claim string) error {
	return p.instances.TagClaim(ctx, providerID, claim)
}

// ListenForEvents implements provider.Announcer: it reads the interruption queue.
func (p *Provider) ListenForEvents(ctx context.Context, handle provider.EventHandler) {
	p.queue.Listen(ctx, handle)
}

// Troubled implements provider.Announcer.
func (p *Provider) Troubled(ctx context.Context) ([]provider.Event, error) {
	return p.watch.Troubled(ctx)
}

// ZonalShifts asks which zones the cluster is shifted away from; nothing is launched
// there until the next answer. After an error the last answer holds. Sources know its age.
func (p *Provider) ZonalShifts(ctx context.Context) ([]provider.Shift, error) {
	begun := p.clock()
	on, err := p.available.shifts.Refresh(ctx)
	p.sources.Note(p.available.shiftAge, begun, err)
	return on, err
}

// Sources are what is asked of AWS from time to time: types, prices, and reservations that
// this process has not heard of. Somebody has to read them (package upkeep).
func (p *Provider) Sources() *refresh.Sources { return p.sources }

// VolumePrices are what EBS volumes cost in the region, by type, as the Price List
// service said last; nil while it has not been asked or cannot be reached.
// The answer is shared; callers do not change it.
func (p *Provider) VolumePrices() map[string]model.VolumePrice { return p.market.VolumePrices() }

// LearnMemory notes the memory that a node reports as its capacity, in bytes, for later
// catalogues.
func (p *Provider) LearnMemory(instanceType, image string, capacity int64) {
	p.catalogue.Memories.Learn(instanceType, image, capacity)
}

// interrupted marks the offering of a spot instance that EC2 takes back: EC2 needs it
// itself.
func (p *Provider) interrupted(ctx context.Context, id string) {
	i, err := p.instances.Look(ctx, id)
	if err != nil || i == nil || i.CapacityType != model.Spot {
		return // not known, then not marked; the next launch finds out
	}
	p.available.shortage.Mark(p.clock(), []model.Option{{InstanceType: i.InstanceType, Zone: i.Zone, CapacityType: model.Spot}}, "")
}

// class finds a node class that is ready to launch from.
func (p *Provider) class(ctx context.Context, name string) (*awsv1.EC2NodeClass, error) {
	class, err := p.classes(ctx, name)
	switch {
	case err != nil && apierrors.IsNotFound(err), err == nil && class == nil:
		return nil, client.Refuse(provider.ClassNotReady, "EC2NodeClass %s: no such object; create it, or correct the NodePool's nodeClassRef", name)
	case err != nil:
		return nil, client.Refuse(provider.Unavailable, "read EC2NodeClass %s: %w", name, err)
	case !class.DeletionTimestamp.IsZero():
		return nil, client.Refuse(provider.ClassNotReady, "EC2NodeClass %s: it is being deleted", name)
	}
	ready := meta.FindStatusCondition(class.Status.Conditions, awsv1.ConditionReady)
	switch {
	case ready == nil || ready.ObservedGeneration != class.Generation:
		return nil, client.Refuse(provider.ClassNotReady, "EC2NodeClass %s: not resolved yet", name)
	case ready.Status != "True":
		return nil, client.Refuse(provider.ClassNotReady, "EC2NodeClass %s: %s: %s", name, ready.Reason, ready.Message)
	}
	return class, nil
}
