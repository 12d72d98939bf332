package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// Prepare implements provider.Provider: one CreateFleet request of type instant,
// and the launch templates it names. Claims prepared at about the same time that
// want the same share a request.
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
	templates, size := map[string]string{}, 0
	for i := range overrides {
		o := &overrides[i]
		if templates[o.template()] != "" {
			continue
		}
		data, err := userData(class, joinOf(class, details, spec).taking(o.pods))
		if err != nil {
			return provider.Attempt{}, refuse(provider.ClassNotReady, "EC2NodeClass %s: %w", class.Name, err)
		}
		size = max(size, len(data))
		b := boot{image: o.image, data: data, bought: o.CapacityType, reservation: o.reservation}
		if templates[o.template()], err = p.ensureTemplate(ctx, class, b); err != nil {
			return provider.Attempt{}, err
		}
	}
	p.metrics.told(class.Name, size)
	in := fleetRequest(overrides, templates, ec2Tags(p.sharedTags(class, spec)))
	in.Context = class.Spec.Context
	body, err := encode(in)
	if err != nil {
		return provider.Attempt{}, refuse(provider.Invalid, "%w", err)
	}
	attempt, err := p.joined(ctx, member{group: string(body), claim: spec.Claim, ordinal: spec.Ordinal})
	if err != nil {
		return provider.Attempt{}, err
	}
	if group, err := p.placementGroupID(ctx, class); err != nil {
		return provider.Attempt{}, err
	} else if group != "" {
		attempt.Labels = map[string]string{awsv1.LabelPlacementGroupID: group}
	}
	attempt.Annotations, err = launchAnnotations(class)
	return attempt, err
}

// joined finds the others that want the same request.
func (p *Provider) joined(ctx context.Context, m member) (provider.Attempt, error) {
	now := p.cfg.Clock()
	key := promiseKey{claim: m.claim, ordinal: m.ordinal}
	if attempt, ok := p.parties.promisedTo(key, m.group, now); ok {
		return attempt, nil
	}
	attempt, err := p.prepares.ask(ctx, m)
	if err != nil {
		if ctx.Err() != nil {
			return provider.Attempt{}, refuse(provider.Unavailable, "%w", err)
		}
		return provider.Attempt{}, err
	}
	return attempt, nil
}

// seal makes attempts for those who came together.
func (p *Provider) seal(_ context.Context, all []member) map[member]answer[provider.Attempt] {
	slices.SortFunc(all, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.claim, b.claim), cmp.Compare(a.ordinal, b.ordinal))
	})
	out := map[member]answer[provider.Attempt]{}
	for len(all) > 0 {
		n := 1
		for n < len(all) && n < maxParty && all[n].group == all[0].group && all[n].claim != all[n-1].claim {
			n++
		}
		attempts, err := sealed(all[:n])
		if err != nil {
			attempts = toAll[member, provider.Attempt](all[:n], refuse(provider.Invalid, "%w", err))
		}
		for m, a := range attempts {
			out[m] = a
			if n > 1 && a.err == nil {
				p.keep(member{group: all[0].group, claim: m.claim, ordinal: m.ordinal}, a.value) // the long text once for all
			}
		}
		all = all[n:]
	}
	return out
}

func (p *Provider) keep(m member, attempt provider.Attempt) {
	now := p.cfg.Clock()
	p.parties.find(&attempt, now, true)
	p.parties.promise(promiseKey{claim: m.claim, ordinal: m.ordinal}, m.group, attempt, now)
}

// overrides resolves the options to images and subnets.
func (p *Provider) overrides(ctx context.Context, class *awsv1.EC2NodeClass, spec *provider.LaunchSpec) ([]override, error) {
	if len(spec.Options) == 0 {
		return nil, refuse(provider.Invalid, "no option given")
	}
	if ct := spec.Options[0].CapacityType; ct != model.OnDemand && ct != model.Spot && ct != model.Reserved {
		return nil, refuse(provider.Invalid, "capacity type %q is none: on-demand, spot and reserved are", ct)
	}
	catalog, err := p.catalogOf(ctx, class)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]*model.InstanceType, len(catalog.Types))
	for i := range catalog.Types {
		byName[catalog.Types[i].Name] = &catalog.Types[i]
	}
	// Subnets are sorted by free addresses: the first of a zone is the one to use.
	subnets := map[string]string{}
	for _, s := range slices.Backward(class.Status.Subnets) {
		subnets[s.Zone] = s.ID
	}
	var out []override
	on := p.shifts.current(p.cfg.Clock())
	for _, o := range leading(spec.Options) {
		known, ok := byName[o.InstanceType]
		if !ok {
			return nil, refuse(provider.Invalid, "EC2NodeClass %s cannot launch %s: it is not offered in zones of its subnets, or no AMI of its fits", class.Name, o.InstanceType)
		}
		subnet, ok := subnets[o.Zone]
		if !ok {
			return nil, refuse(provider.Invalid, "EC2NodeClass %s has no subnet in zone %s", class.Name, o.Zone)
		}
		if from(on, o.Zone, zoneID(class, o.Zone)) {
			continue // shifted away from since the plan was made
		}
		out = append(out, override{Option: o, image: imageFor(class.Status.AMIs, known.Labels).ID, subnet: subnet, pods: p.podsTold(class, known)})
	}
	if len(out) == 0 {
		return nil, soldOut(nil, codeZonalShift, fmt.Errorf("the cluster is shifted away from zone %s", spec.Options[0].Zone))
	}
	if spec.Options[0].CapacityType == model.Reserved {
		out = p.drawing(class, out)
	}
	if len(out) == 0 {
		return nil, soldOut(spec.Options[:1], "", fmt.Errorf("EC2NodeClass %s selects no open capacity reservation of %s in %s any more",
			class.Name, spec.Options[0].InstanceType, spec.Options[0].Zone))
	}
	return out, nil
}

// drawing gives each reserved option its reservation, and keeps as many as one
// request can carry: blocks and interruptible ones are bought in other ways than
// other reservations. Full ones are left out while another has room.
func (p *Provider) drawing(class *awsv1.EC2NodeClass, all []override) []override {
	room := false
	for i := range all {
		all[i].reservation = p.reservationFor(class, all[i].InstanceType, all[i].Zone)
		room = room || all[i].reservation != nil && p.reserved.left(all[i].reservation.ID) > 0
	}
	out := all[:0]
	for _, o := range all {
		switch {
		case o.reservation == nil, room && p.reserved.left(o.reservation.ID) <= 0:
			continue
		case len(out) == maxReservations, len(out) > 0 && !boughtAlike(out[0].reservation, o.reservation):
			return out
		}
		out = append(out, o)
	}
	return out
}

// boughtAlike says whether one request can draw on both.
func boughtAlike(a, b *awsv1.CapacityReservation) bool {
	return a.ReservationType == b.ReservationType && a.Interruptible == b.Interruptible
}

// Launch implements provider.Provider. It sends exactly what was written down,
// once for all claims that share it.
func (p *Provider) Launch(ctx context.Context, attempt provider.Attempt) (provider.Instance, error) {
	in, err := decodeRequest(&attempt)
	if err != nil {
		return provider.Instance{}, refuse(provider.Invalid, "launch %v: %w", attempt.Claims, err)
	}
	claim := attempt.Owner()
	if len(attempt.Claims) == 1 {
		outcome, err := p.carryOut(ctx, attempt.Claims, in)
		if err != nil {
			return provider.Instance{}, err
		}
		return outcome[claim].value, outcome[claim].err
	}
	b := p.parties.find(&attempt, p.cfg.Clock(), false)
	if err := b.arrive(ctx, claim); errors.Is(err, errAbsent) {
		err = p.withoutAbsent(ctx, b, claim)
		if err != nil {
			return provider.Instance{}, err
		}
	} else if err != nil {
		return provider.Instance{}, err
	}
	return b.share(ctx, claim, func(ctx context.Context) (map[string]answer[provider.Instance], error) {
		return p.carryOut(ctx, attempt.Claims, in)
	})
}

// withoutAbsent decides what becomes of a party of which some do not come. One
// that this process made was never sent: after a while it is void. Of one found
// on the claims, EC2 is asked: when it started anything, the request was sent by
// a predecessor, and repeating it is safe; when it shows nothing although all
// that was written must be visible, nothing was sent.
func (p *Provider) withoutAbsent(ctx context.Context, b *party, claim string) error {
	now := p.cfg.Clock()
	waiting := refuse(provider.Unavailable, "launch %s: waiting for %s, which shall be launched by the same request", claim, b.absent())
	if b.made {
		if now.Sub(b.begun) < partyGrace {
			return waiting
		}
		b.dissolve()
		return refuse(provider.Stale, "launch %s: %s, of the same request, did not come; nothing was launched", claim, b.absent())
	}
	if !b.mayLook(now) {
		return waiting
	}
	found, err := p.describe(ctx, filter("tag:"+awsv1.TagLaunch, b.token), filter("tag:"+awsv1.TagEKSCluster, p.cfg.ClusterName))
	switch {
	case err != nil:
		return fault(err, "launch %s: look for what its request started", claim)
	case len(found) > 0:
		b.release()
		return nil
	case now.Sub(b.begun) < settleTime:
		return waiting
	}
	b.dissolve()
	return refuse(provider.Stale, "launch %s: %s, of the same request, did not come; nothing was launched", claim, b.absent())
}

// mayLook is true for one caller every ten seconds.
func (b *party) mayLook(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.looked.IsZero() && now.Sub(b.looked) < 10*time.Second {
		return false
	}
	b.looked = now
	return true
}

// carryOut sends the request and gives each claim its part of the answer. An
// error is not final: the same request is repeated.
func (p *Provider) carryOut(ctx context.Context, claims []string, in fleetInput) (map[string]answer[provider.Instance], error) {
	what := strings.Join(claims, ", ")
	out, err := p.sdk.EC2.CreateFleet(ctx, in)
	if err != nil {
		return p.adopt(ctx, claims, in, fault(err, "launch %s", what))
	}
	var started []provider.Instance
	for i := range out.Instances {
		started = append(started, p.launched(in, &out.Instances[i])...)
	}
	if len(started) == 0 {
		return toAll[string, provider.Instance](claims, p.refused(what, in, out.Errors)), nil
	}
	answers := p.handOut(ctx, claims, started)
	if len(started) >= len(claims) {
		p.learn(in, out.Errors)
		return answers, nil
	}
	// Partly fulfilled: those that got nothing solve again.
	rest := p.refused(what, in, out.Errors)
	for _, claim := range claims {
		if _, ok := answers[claim]; !ok {
			answers[claim] = answer[provider.Instance]{err: rest}
		}
	}
	return answers, nil
}

// handOut assigns instances to claims, keeps them in mind, and writes the claims
// on them where the request could not.
func (p *Provider) handOut(ctx context.Context, claims []string, started []provider.Instance) map[string]answer[provider.Instance] {
	out := map[string]answer[provider.Instance]{}
	assigned := assign(claims, started)
	for claim, i := range assigned {
		if len(claims) > 1 {
			maps.Copy(i.Tags, claimTags(i.Tags, claim))
		}
		i.Claim, i.NodePool = claim, i.Tags[awsv1.TagNodePool]
		assigned[claim] = i
		p.remember(&i)
		out[claim] = answer[provider.Instance]{value: i}
	}
	if len(claims) > 1 {
		go p.inscribe(context.WithoutCancel(ctx), assigned)
	}
	return out
}

// inscribeFor bounds the time that tagging a party takes: a thousand instances
// need minutes at the rate that EC2 allows. An instance that EC2 does not show yet
// is tried again after inscribePause.
const (
	inscribeFor   = 10 * time.Minute
	inscribeTries = 5
	inscribePause = time.Second
)

// inscribe tags instances with their claims. Nothing depends on it but people,
// and garbage collection after a crash; TagClaim makes up for what it misses.
func (p *Provider) inscribe(ctx context.Context, assigned map[string]provider.Instance) {
	ctx, cancel := context.WithTimeout(ctx, inscribeFor)
	defer cancel()
	left := slices.Sorted(maps.Keys(assigned))
	for range inscribeTries {
		left = slices.DeleteFunc(left, func(claim string) bool {
			i := assigned[claim]
			shared := maps.Clone(i.Tags)
			if shared[awsv1.TagName] == shared[awsv1.TagNodePool]+"/"+claim {
				delete(shared, awsv1.TagName)
			}
			err := p.Tag(ctx, i.ProviderID, claimTags(shared, claim))
			return err == nil || provider.KindOf(err).Definitive()
		})
		if len(left) == 0 {
			return
		}
		pause(ctx, inscribePause)
	}
}

// TagClaim writes the tags of a claim that its instance lacks.
func (p *Provider) TagClaim(ctx context.Context, providerID, claim string) error {
	i, err := p.Get(ctx, providerID)
	if err != nil {
		return fmt.Errorf("tag %s for %s: %w", providerID, claim, err)
	}
	missing := claimTags(i.Tags, claim)
	maps.DeleteFunc(missing, func(key, value string) bool { return i.Tags[key] == value })
	if len(missing) == 0 {
		return nil
	}
	return p.Tag(ctx, providerID, missing)
}

// adopt looks for instances that an earlier, unanswered try of the attempt
// started, before its call is declared to have failed for good.
func (p *Provider) adopt(ctx context.Context, claims []string, in fleetInput, failure error) (map[string]answer[provider.Instance], error) {
	kind := provider.KindOf(failure)
	if !kind.Definitive() {
		return nil, failure
	}
	if kind == provider.NotFound || kind == provider.Invalid {
		for i := range in.LaunchTemplateConfigs {
			p.forgetTemplate(sdk.ToString(in.LaunchTemplateConfigs[i].LaunchTemplateSpecification.LaunchTemplateName))
		}
	}
	// Terminated ones count: they keep their place in the order.
	found, err := p.describe(ctx, filter("tag:"+awsv1.TagLaunch, sdk.ToString(in.ClientToken)),
		filter("tag:"+awsv1.TagEKSCluster, p.cfg.ClusterName))
	if err != nil {
		// Whether something was started is unknown after all.
		return nil, refuse(provider.Unavailable, "%w; and look for its instances: %w", unkinded(failure), unkinded(err))
	}
	if len(found) == 0 {
		p.notLaunched(kind, asked(in))
	}
	out := toAll[string, provider.Instance](claims, failure)
	for claim, i := range assign(claims, found) {
		if i.State == string(types.InstanceStateNamePending) || i.State == string(types.InstanceStateNameRunning) {
			i.Claim = claim
			if i.CapacityType == model.Reserved {
				maps.Copy(labelsOf(&i), labelsIn(in, i.ReservationID))
			}
			out[claim] = answer[provider.Instance]{value: i}
		}
	}
	return out, nil
}

// launched is what one entry of the answer to CreateFleet says of its instances;
// Get knows more.
func (p *Provider) launched(in fleetInput, entry *types.CreateFleetInstance) []provider.Instance {
	sent, template := sentOverride(in, string(entry.InstanceType), entry.LaunchTemplateAndOverrides)
	tags := map[string]string{}
	for _, t := range in.TagSpecifications {
		if t.ResourceType == types.ResourceTypeInstance {
			tags = mapTags(t.Tags)
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
			ImageID:      imageOf(template),
			LaunchTime:   p.cfg.Clock(),
			Tags:         maps.Clone(tags),
		}
		if entry.Lifecycle == types.InstanceLifecycleSpot {
			i.CapacityType = model.Spot
		}
		if i.ReservationID = reservationIn(template); i.ReservationID != "" {
			i.Labels = labelsIn(in, i.ReservationID)
			p.reserved.take(i.ReservationID, i.LaunchTime)
		}
		i.Claim, i.NodePool = i.Tags[awsv1.TagNodeClaim], i.Tags[awsv1.TagNodePool]
		i.ProviderID = ProviderID(i.Zone, id)
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
func labelsIn(in fleetInput, reservation string) map[string]string {
	kind := awsv1.ReservationTypeDefault
	if in.TargetCapacitySpecification.DefaultTargetCapacityType == types.DefaultTargetCapacityTypeCapacityBlock {
		kind = awsv1.ReservationTypeCapacityBlock
	}
	interruptible := in.TargetCapacitySpecification.DefaultTargetCapacityType == types.DefaultTargetCapacityTypeReservedCapacity
	return reservationLabels(reservation, kind, interruptible)
}
