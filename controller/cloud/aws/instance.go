package aws

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// settleTime is how long EC2's reads may trail its writes.
// https://docs.aws.amazon.com/ec2/latest/devguide/eventual-consistency.html
const settleTime = 2 * time.Minute

// unclaimedFor is how long an instance may be without the tag of its claim.
const unclaimedFor = 5 * time.Minute

// maxFilterValues is how many values a filter takes, maxEnds how many instances
// are ended in one call: EC2 takes 1,000 and advises to keep below.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html
const (
	maxFilterValues = 200
	maxEnds         = 500
)

// sighting is an instance that a launch reported, until reads must show it.
type sighting struct {
	provider.Instance
	until time.Time
}

// ProviderID is how Kubernetes names an instance.
func ProviderID(zone, id string) string { return "aws:///" + zone + "/" + id }

// InstanceID reads the instance id from a provider ID.
func InstanceID(providerID string) (string, error) {
	path, ours := strings.CutPrefix(providerID, "aws:///")
	zone, id, ok := strings.Cut(path, "/")
	if !ours || !ok || zone == "" || !strings.HasPrefix(id, "i-") || strings.Contains(id, "/") {
		return "", refuse(provider.Invalid, "provider ID %q is not of the form aws:///<zone>/<instance id>", providerID)
	}
	return id, nil
}

// Get implements provider.Provider.
func (p *Provider) Get(ctx context.Context, providerID string) (provider.Instance, error) {
	id, err := InstanceID(providerID)
	if err != nil {
		return provider.Instance{}, err
	}
	found, err := p.gets.ask(ctx, id)
	switch {
	case err != nil && ctx.Err() != nil:
		return provider.Instance{}, refuse(provider.Unavailable, "get instance %s: %w", id, err)
	case err != nil:
		return provider.Instance{}, fault(err, "get instance %s", id)
	case found == nil:
		if fresh, ok := p.sighted(id); ok {
			return fresh, nil
		}
		return provider.Instance{}, refuse(provider.NotFound, "get instance %s: no such instance", id)
	case found.State == string(types.InstanceStateNameTerminated):
		p.forget(id)
		return provider.Instance{}, refuse(provider.NotFound, "get instance %s: it is terminated", id)
	}
	return p.claimed(*found), nil
}

// getAll describes instances by id, as many in a call as a filter takes. The
// answer for one that does not exist is nil: filters, unlike ids, do not fail.
func (p *Provider) getAll(ctx context.Context, ids []string) map[string]answer[*provider.Instance] {
	out := make(map[string]answer[*provider.Instance], len(ids))
	for chunk := range slices.Chunk(ids, maxFilterValues) {
		for _, id := range chunk {
			out[id] = answer[*provider.Instance]{}
		}
		// Without a filter on the state, a terminated instance is told from an
		// unseen one.
		found, err := p.describe(ctx, filter("instance-id", chunk...))
		if err != nil {
			maps.Copy(out, toAll[string, *provider.Instance](chunk, err))
			continue
		}
		for i := range found {
			out[instanceIDOf(&found[i])] = answer[*provider.Instance]{value: &found[i]}
		}
	}
	return out
}

// claimed fills in the claim of an instance that is not tagged with it yet.
func (p *Provider) claimed(i provider.Instance) provider.Instance {
	if i.Claim == "" {
		if fresh, ok := p.sighted(instanceIDOf(&i)); ok {
			i.Claim = fresh.Claim
		}
	}
	return i
}

// List implements provider.Provider.
func (p *Provider) List(ctx context.Context) ([]provider.Instance, error) {
	found, err := p.describe(ctx,
		filter("tag-key", awsv1.TagNodePool),
		filter("tag:"+awsv1.TagEKSCluster, p.cfg.ClusterName),
		living())
	if err != nil {
		return nil, fault(err, "list instances of cluster %s", p.cfg.ClusterName)
	}
	now := p.cfg.Clock()
	ours := found[:0]
	for i := range found {
		in := p.claimed(found[i])
		// A claim that is about to be written on the instance is not known yet; one
		// that nobody wrote in a long time has been forgotten.
		forgotten := in.Tags[awsv1.TagLaunch] != "" && now.Sub(in.LaunchTime) > unclaimedFor
		if in.Claim != "" || forgotten {
			ours = append(ours, in)
		}
	}
	return p.withUnseen(ctx, ours)
}

// withUnseen adds the instances launched a moment ago that a list does not show
// yet. Those that it does not show because they are terminated stay out.
func (p *Provider) withUnseen(ctx context.Context, found []provider.Instance) ([]provider.Instance, error) {
	unseen := p.recently()
	for i := range found {
		delete(unseen, instanceIDOf(&found[i]))
	}
	shown := p.getAll(ctx, slices.Sorted(maps.Keys(unseen)))
	for _, id := range slices.Sorted(maps.Keys(unseen)) {
		a := shown[id]
		switch {
		case a.err != nil:
			return nil, fault(a.err, "list instances of cluster %s", p.cfg.ClusterName)
		case a.value == nil:
			found = append(found, unseen[id])
		case a.value.State == string(types.InstanceStateNameTerminated):
			p.forget(id)
		default:
			found = append(found, p.claimed(*a.value))
		}
	}
	return found, nil
}

// Terminate implements provider.Provider.
func (p *Provider) Terminate(ctx context.Context, providerID string) error {
	id, err := InstanceID(providerID)
	if err != nil {
		return err
	}
	_, err = p.ends.ask(ctx, id)
	switch {
	case err != nil && ctx.Err() != nil:
		return refuse(provider.Unavailable, "terminate instance %s: %w", id, err)
	case err != nil:
		err = p.notSeenYet(id, fault(err, "terminate instance %s", id))
		if provider.KindOf(err) != provider.NotFound {
			p.notEnded(providerID)
		}
		return err
	}
	return nil
}

// terminateAll ends instances in one call. EC2 refuses all when it refuses one,
// so that a refused call is halved until the culprit stands alone.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_TerminateInstances.html
func (p *Provider) terminateAll(ctx context.Context, ids []string) map[string]answer[struct{}] {
	out, err := p.sdk.EC2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: ids})
	if err != nil {
		if kind, _ := classify(err); len(ids) == 1 || !kind.Definitive() || kind == provider.Unauthorized {
			return toAll[string, struct{}](ids, err)
		}
		answers := p.terminateAll(ctx, ids[:len(ids)/2])
		maps.Copy(answers, p.terminateAll(ctx, ids[len(ids)/2:]))
		return answers
	}
	answers := toAll[string, struct{}](ids, nil)
	for _, change := range out.TerminatingInstances {
		if before := change.PreviousState; before != nil && before.Name == types.InstanceStateNameTerminated {
			id := sdk.ToString(change.InstanceId)
			answers[id] = answer[struct{}]{err: refuse(provider.NotFound, "it is terminated")}
		}
	}
	return answers
}

// Tag implements provider.Provider.
func (p *Provider) Tag(ctx context.Context, providerID string, tags map[string]string) error {
	id, err := InstanceID(providerID)
	if err != nil {
		return err
	}
	_, err = p.sdk.EC2.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{id}, Tags: ec2Tags(tags)})
	if err != nil {
		return p.notSeenYet(id, fault(err, "tag instance %s", id))
	}
	return nil
}

// notSeenYet turns NotFound for an instance launched a moment ago into
// Unavailable: it exists, and the call must be repeated.
func (p *Provider) notSeenYet(id string, err error) error {
	if provider.KindOf(err) != provider.NotFound {
		return err
	}
	if _, fresh := p.sighted(id); !fresh {
		return err
	}
	return refuse(provider.Unavailable, "launched a moment ago and not visible yet: %w", unkinded(err))
}

// remember keeps a launched instance in mind until reads must show it.
func (p *Provider) remember(i *provider.Instance) {
	id, err := InstanceID(i.ProviderID)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recent[id] = sighting{Instance: *i, until: p.cfg.Clock().Add(settleTime)}
}

func (p *Provider) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.recent, id)
}

// sighted is a copy of the sighting of one instance, when it is not over.
func (p *Provider) sighted(id string) (provider.Instance, bool) {
	now := p.cfg.Clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	s, ok := p.recent[id]
	if !ok || !now.Before(s.until) {
		delete(p.recent, id)
		return provider.Instance{}, false
	}
	s.Tags = maps.Clone(s.Tags)
	return s.Instance, true
}

// recently copies the sightings that are not over, by instance id.
func (p *Provider) recently() map[string]provider.Instance {
	now := p.cfg.Clock()
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]provider.Instance{}
	for id, s := range p.recent {
		if !now.Before(s.until) {
			delete(p.recent, id)
			continue
		}
		fresh := s.Instance
		fresh.Tags = maps.Clone(s.Tags)
		out[id] = fresh
	}
	return out
}

// living filters for the states before terminated.
func living() types.Filter {
	return filter("instance-state-name", "pending", "running", "shutting-down", "stopping", "stopped")
}

func (p *Provider) describe(ctx context.Context, filters ...types.Filter) ([]provider.Instance, error) {
	out := []provider.Instance{}
	pages := ec2.NewDescribeInstancesPaginator(p.sdk.EC2, &ec2.DescribeInstancesInput{Filters: filters, MaxResults: sdk.Int32(1000)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fault(err, "describe instances")
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
		Tags:         mapTags(i.Tags),
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

func mapTags(tags []types.Tag) map[string]string {
	out := make(map[string]string, len(tags))
	for _, t := range tags {
		out[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	return out
}
