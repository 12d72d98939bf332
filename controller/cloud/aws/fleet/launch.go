package fleet

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/availability"
	"spokeshave.dev/controller/cloud/aws/batch"
	"spokeshave.dev/controller/cloud/aws/bootstrap"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/instances"
	"spokeshave.dev/controller/cloud/aws/launchtemplate"
	"spokeshave.dev/controller/cloud/aws/market"
	"spokeshave.dev/controller/cloud/aws/resolve"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Config is what a Launcher works with.
//
// Size: one field for each part of the provider that a launch needs.
type Config struct {
	EC2 client.Instances
	// Cluster is the name in the tags of everything launched.
	Cluster string
	Clock   func() time.Time
	// Concurrent is how many claims are launched at the same time; 0 is not known.
	Concurrent int
	// Written returns the attempt that a claim has written down, read where it is written. The
	// error has kind NotFound for a claim that is gone or being deleted. Nil is not known.
	Written func(ctx context.Context, claim string) (provider.Attempt, error)
	// ClusterDetails is what nodes are told of the cluster.
	ClusterDetails func(context.Context) (bootstrap.Cluster, error)

	Groups       *resolve.PlacementGroups
	Catalogue    *market.Catalogue
	Templates    *launchtemplate.Templates
	Instances    *instances.Instances
	Shortage     *availability.Shortage
	Reservations *availability.Reservations
	Shifts       *availability.ZonalShifts
	Addresses    *availability.Addresses

	Batches *batch.Metrics
	Metrics *Metrics
}

// Launcher starts instances. Make it with New.
type Launcher struct {
	cfg       Config
	gathering gathering
	launches  sharedLaunches
	untagged  tagQueue
}

// New makes a Launcher.
func New(cfg Config) *Launcher {
	most := 10 * maxSharing
	if cfg.Concurrent > 0 {
		most = min(most, cfg.Concurrent)
	}
	l := &Launcher{cfg: cfg, untagged: tagQueue{tag: cfg.Instances.Tag, clock: cfg.Clock}}
	l.gathering = gathering{most: most, give: l.groupAttempts, closed: cfg.Batches.Closed("create_fleet"), clock: cfg.Clock}
	return l
}

// Expect makes the claims of each group that l launches wait for each other for a minute, in
// tests. What it returns ends that. It is not safe while claims are launched.
func Expect(_ testing.TB, l *Launcher) (undo func()) {
	l.gathering.patient = true
	return func() { l.gathering.patient = false }
}

// Ended says that an instance has been ended: its claim is not written on it any more.
func (l *Launcher) Ended(providerID string) { l.untagged.drop(providerID) }

// Launch carries an attempt out. It sends exactly what was written down, once for all
// claims that share it.
func (l *Launcher) Launch(ctx context.Context, attempt provider.Attempt) (provider.Instance, error) {
	claim := attempt.Owner()
	l.launches.launchedBy(memberID{claim: claim, ordinal: attempt.Ordinal}, attempt.Token)
	if len(attempt.Claims) == 1 {
		in, err := decode(&attempt)
		if err != nil {
			return provider.Instance{}, client.Refuse(provider.Invalid, "launch %v: %w", attempt.Claims, err)
		}
		outcome, err := l.carryOut(ctx, attempt.Claims, in)
		if err != nil {
			return provider.Instance{}, err
		}
		return outcome[claim].Value, outcome[claim].Err
	}
	b := l.launches.find(&attempt, l.cfg.Clock(), false)
	if known, ok := b.answered(claim); ok {
		return known.Value, known.Err
	}
	in, err := b.request(&attempt)
	if err != nil {
		return provider.Instance{}, client.Refuse(provider.Invalid, "launch %v: %w", attempt.Claims, err)
	}
	if err := b.arrive(ctx, claim); errors.Is(err, errAbsent) {
		err = l.withoutAbsent(ctx, b, claim)
		if err != nil {
			return provider.Instance{}, err
		}
	} else if err != nil {
		return provider.Instance{}, err
	}
	return b.share(ctx, claim, l.cfg.Clock, func(ctx context.Context) (map[string]batch.Answer[provider.Instance], error) {
		return l.carryOut(ctx, attempt.Claims, in)
	})
}

// carryOut sends the request and gives each claim its part of the answer. An
// error is not final: the same request is repeated.
func (l *Launcher) carryOut(ctx context.Context, claims []string, in *ec2.CreateFleetInput) (map[string]batch.Answer[provider.Instance], error) {
	what := strings.Join(claims, ", ")
	out, err := l.cfg.EC2.CreateFleet(ctx, in)
	if err != nil {
		return l.adopt(ctx, claims, in, client.Fault(err, "launch %s", what))
	}
	var started []provider.Instance
	for i := range out.Instances {
		launched := l.launched(in, &out.Instances[i])
		takeAddresses(l.cfg.Addresses, &out.Instances[i], len(launched), l.cfg.Clock())
		started = append(started, launched...)
	}
	if len(started) == 0 {
		return batch.ToAll[string, provider.Instance](claims, l.refused(what, in, out.Errors)), nil
	}
	answers := l.handOut(ctx, claims, started)
	if len(started) >= len(claims) {
		l.learn(in, out.Errors)
		return answers, nil
	}
	// Partly fulfilled: those that got nothing solve again.
	rest := l.refused(what, in, out.Errors)
	for _, claim := range claims {
		if _, ok := answers[claim]; !ok {
			answers[claim] = batch.Answer[provider.Instance]{Err: rest}
		}
	}
	return answers, nil
}

// takeAddresses counts the addresses of n instances of an answer.
func takeAddresses(in *availability.Addresses, of *types.CreateFleetInstance, n int, now time.Time) {
	if of.LaunchTemplateAndOverrides == nil || of.LaunchTemplateAndOverrides.Overrides == nil {
		return
	}
	for range n {
		in.Take(sdk.ToString(of.LaunchTemplateAndOverrides.Overrides.SubnetId), now)
	}
}

// handOut assigns instances to claims, keeps them in mind, and writes the claims
// on them where the request could not.
func (l *Launcher) handOut(ctx context.Context, claims []string, started []provider.Instance) map[string]batch.Answer[provider.Instance] {
	out := map[string]batch.Answer[provider.Instance]{}
	var bare []untagged
	for claim, i := range assign(claims, started) {
		if len(claims) > 1 {
			own := instances.ClaimTags(i.Tags, claim)
			maps.Copy(i.Tags, own)
			bare = append(bare, untagged{providerID: i.ProviderID, tags: own})
		}
		i.Claim, i.NodePool = claim, i.Tags[awsv1.TagNodePool]
		l.cfg.Instances.Remember(&i)
		out[claim] = batch.Answer[provider.Instance]{Value: i}
	}
	l.untagged.add(context.WithoutCancel(ctx), bare)
	return out
}

// adopt looks for instances that an earlier, unanswered try of the attempt
// started, before its call is declared to have failed for good.
func (l *Launcher) adopt(ctx context.Context, claims []string, in *ec2.CreateFleetInput, failure error) (map[string]batch.Answer[provider.Instance], error) {
	kind := provider.KindOf(failure)
	if !kind.Definitive() {
		return nil, failure
	}
	if kind == provider.NotFound || kind == provider.Invalid {
		for i := range in.LaunchTemplateConfigs {
			l.cfg.Templates.Forget(sdk.ToString(in.LaunchTemplateConfigs[i].LaunchTemplateSpecification.LaunchTemplateName))
		}
	}
	// Terminated ones count: they keep their place in the order.
	found, err := l.cfg.Instances.Find(ctx, client.Filter("tag:"+awsv1.TagLaunch, sdk.ToString(in.ClientToken)),
		client.Filter("tag:"+awsv1.TagEKSCluster, l.cfg.Cluster))
	if err != nil {
		// Whether something was started is unknown after all.
		return nil, client.Refuse(provider.Unavailable, "%w; and look for its instances: %w", client.Unkinded(failure), client.Unkinded(err))
	}
	if len(found) == 0 {
		failure = l.refusedWhole(in, failure)
	}
	out := batch.ToAll[string, provider.Instance](claims, failure)
	for claim, i := range assign(claims, found) {
		if i.State == string(types.InstanceStateNamePending) || i.State == string(types.InstanceStateNameRunning) {
			i.Claim = claim
			if i.CapacityType == model.Reserved {
				maps.Copy(labelsOf(&i), labelsIn(in, i.ReservationID))
			}
			out[claim] = batch.Answer[provider.Instance]{Value: i}
		}
	}
	return out, nil
}

// launched is what one entry of the answer to CreateFleet says of its instances;
// Get knows more.
func (l *Launcher) launched(in *ec2.CreateFleetInput, entry *types.CreateFleetInstance) []provider.Instance {
	sent, template := sentOverride(in, string(entry.InstanceType), entry.LaunchTemplateAndOverrides)
	tags := map[string]string{}
	for _, t := range in.TagSpecifications {
		if t.ResourceType == types.ResourceTypeInstance {
			tags = client.TagMap(t.Tags)
		}
	}
	var out []provider.Instance
	for _, id := range entry.InstanceIds {
		i := provider.Instance{
			State:        string(types.InstanceStateNamePending),
			InstanceType: string(entry.InstanceType),
			CapacityType: capacityType(in),
			Zone:         cmp.Or(sdk.ToString(entry.AvailabilityZone), sdk.ToString(sent.AvailabilityZone)),
			ZoneID:       sdk.ToString(entry.AvailabilityZoneId),
			ImageID:      launchtemplate.ImageOf(template),
			LaunchTime:   l.cfg.Clock(),
			Tags:         maps.Clone(tags),
		}
		if entry.Lifecycle == types.InstanceLifecycleSpot {
			i.CapacityType = model.Spot
		}
		if i.ReservationID = launchtemplate.ReservationIn(template); i.ReservationID != "" {
			i.Labels = labelsIn(in, i.ReservationID)
			l.cfg.Reservations.Take(i.ReservationID, i.LaunchTime)
		}
		i.Claim, i.NodePool = i.Tags[awsv1.TagNodeClaim], i.Tags[awsv1.TagNodePool]
		i.ProviderID = instances.ProviderID(i.Zone, id)
		out = append(out, i)
	}
	return out
}

func labelsOf(i *provider.Instance) map[string]string {
	if i.Labels == nil {
		i.Labels = map[string]string{}
	}
	return i.Labels
}

// labelsIn are the labels of a reservation that a request draws on.
func labelsIn(in *ec2.CreateFleetInput, reservation string) map[string]string {
	kind := awsv1.ReservationTypeDefault
	if in.TargetCapacitySpecification.DefaultTargetCapacityType == types.DefaultTargetCapacityTypeCapacityBlock {
		kind = awsv1.ReservationTypeCapacityBlock
	}
	interruptible := in.TargetCapacitySpecification.DefaultTargetCapacityType == types.DefaultTargetCapacityTypeReservedCapacity
	return availability.ReservationLabels(reservation, kind, interruptible)
}
