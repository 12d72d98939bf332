package aws

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// maxOptions bounds the overrides of a request. EC2 takes 300; what is ranked
// below the first 60 is not worth the room that a written-down attempt takes.
const maxOptions = 60

// maxReservations bounds the reservations of a request: each has a launch
// template of its own, and EC2 takes 50.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/fleet-quotas.html
const maxReservations = 40

// tokenLength keeps client tokens below EC2's 64 characters.
const tokenLength = 40

// maxParty is how many claims share a request at most: each of them holds the
// request and the names of all.
const maxParty = 200

// override is an option with the image that its type boots and the subnet of
// its zone.
type override struct {
	model.Option
	image  string
	subnet string
	// reservation is what a reserved option draws on, nil for others.
	reservation *awsv1.CapacityReservation
	// pods is what the node's kubelet is told to take, 0 where it finds out itself.
	pods int64
}

// template is what tells the launch templates of a request apart.
func (o *override) template() string {
	out := o.image
	if o.pods > 0 {
		out += "/" + strconv.FormatInt(o.pods, 10)
	}
	if o.reservation != nil {
		out += "/" + o.reservation.ID
	}
	return out
}

// leading is the run of options that one request can carry: of the first one's
// capacity type, without repetitions, at most maxOptions.
func leading(options []model.Option) []model.Option {
	seen := map[offering]bool{}
	var out []model.Option
	for _, o := range options {
		key := offering{instanceType: o.InstanceType, zone: o.Zone, capacityType: o.CapacityType}
		if o.CapacityType != options[0].CapacityType || len(out) == maxOptions {
			break
		}
		if !seen[key] {
			seen[key] = true
			out = append(out, o)
		}
	}
	return out
}

// fleetRequest is the request without what depends on the claims: their number,
// the token, and the tags of a single one. Overrides carry their rank as
// priority: EC2 obeys it on demand, and takes it as a hint for spot.
// templates are named by override.template.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-allocation-strategy.html
func fleetRequest(overrides []override, templates map[string]string, tags []types.Tag) *ec2.CreateFleetInput {
	in := &ec2.CreateFleetInput{
		Type: types.FleetTypeInstant,
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{
			DefaultTargetCapacityType: types.DefaultTargetCapacityTypeOnDemand,
		},
		TagSpecifications: []types.TagSpecification{
			{ResourceType: types.ResourceTypeInstance, Tags: tags},
			{ResourceType: types.ResourceTypeVolume, Tags: tags},
			{ResourceType: types.ResourceTypeFleet, Tags: tags},
		},
	}
	switch first := &overrides[0]; {
	case first.reservation != nil && first.reservation.ReservationType == awsv1.ReservationTypeCapacityBlock:
		in.TargetCapacitySpecification.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeCapacityBlock
	case first.reservation != nil && first.reservation.Interruptible:
		// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-launch-instances-interruptible-cr-walkthrough.html
		in.TargetCapacitySpecification.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeReservedCapacity
		in.ReservedCapacityOptions = &types.ReservedCapacityOptionsRequest{
			AllocationStrategy: types.ReservedCapacityAllocationStrategyPrioritized,
			ReservationTypes:   []types.FleetReservationType{types.FleetReservationTypeInterruptibleCapacityReservation},
		}
	case first.CapacityType == model.Spot:
		in.TargetCapacitySpecification.DefaultTargetCapacityType = types.DefaultTargetCapacityTypeSpot
		in.SpotOptions = &types.SpotOptionsRequest{AllocationStrategy: types.SpotAllocationStrategyCapacityOptimizedPrioritized}
	default:
		in.OnDemandOptions = &types.OnDemandOptionsRequest{AllocationStrategy: types.FleetOnDemandAllocationStrategyPrioritized}
	}
	place := map[string]int{}
	for rank, o := range overrides {
		name := templates[o.template()]
		at, ok := place[name]
		if !ok {
			at = len(in.LaunchTemplateConfigs)
			place[name] = at
			in.LaunchTemplateConfigs = append(in.LaunchTemplateConfigs, types.FleetLaunchTemplateConfigRequest{
				LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{
					LaunchTemplateName: sdk.String(name), Version: sdk.String("$Latest"),
				},
			})
		}
		config := &in.LaunchTemplateConfigs[at]
		config.Overrides = append(config.Overrides, types.FleetLaunchTemplateOverridesRequest{
			InstanceType: types.InstanceType(o.InstanceType),
			SubnetId:     sdk.String(o.subnet),
			// The subnet says it already; errors are easier to read with it.
			AvailabilityZone: sdk.String(o.Zone),
			Priority:         sdk.Float64(float64(rank)),
		})
	}
	return in
}

// sharedTags are the tags of every instance of a request.
func (p *Provider) sharedTags(class *awsv1.EC2NodeClass, spec *provider.LaunchSpec) map[string]string {
	out := map[string]string{}
	maps.Copy(out, spec.Tags)
	maps.Copy(out, p.classTags(class))
	out[awsv1.TagNodePool] = spec.NodePool
	return out
}

// claimTags are the tags of one claim's instance, beyond those shared.
func claimTags(shared map[string]string, claim string) map[string]string {
	out := map[string]string{awsv1.TagNodeClaim: claim}
	if _, own := shared[awsv1.TagName]; !own {
		out[awsv1.TagName] = shared[awsv1.TagNodePool] + "/" + claim
	}
	return out
}

// member is a claim that wants the request in group, which is its JSON.
type member struct {
	group   string
	claim   string
	ordinal int
}

// sealed completes a request for claims that want the same, and gives it a
// token, which follows from claims, ordinals and contents. Members are sorted by
// claim; each gets a copy of the attempt.
func sealed(members []member) (map[member]answer[provider.Attempt], error) {
	var in ec2.CreateFleetInput
	if err := json.Unmarshal([]byte(members[0].group), &in); err != nil {
		return nil, fmt.Errorf("read back request: %w", err)
	}
	in.TargetCapacitySpecification.TotalTargetCapacity = sdk.Int32(int32(min(len(members), maxParty)))
	sum := sha256.New()
	claims := make([]string, 0, len(members))
	for _, m := range members {
		claims = append(claims, m.claim)
		// A hash never refuses a write.
		_, _ = fmt.Fprintf(sum, "%s\x00%d\x00", m.claim, m.ordinal)
	}
	_, _ = sum.Write([]byte(members[0].group))
	token := hex.EncodeToString(sum.Sum(nil))[:tokenLength]
	in.ClientToken = sdk.String(token)
	for i := range in.TagSpecifications {
		tags := mapTags(in.TagSpecifications[i].Tags)
		if len(claims) == 1 {
			maps.Copy(tags, claimTags(tags, claims[0]))
		}
		tags[awsv1.TagLaunch] = token
		in.TagSpecifications[i].Tags = ec2Tags(tags)
	}
	body, err := encode(&in)
	if err != nil {
		return nil, err
	}
	out := map[member]answer[provider.Attempt]{}
	for _, m := range members {
		a := provider.Attempt{Token: token, Ordinal: m.ordinal, Claims: claims, Request: body}
		if len(claims) > 1 {
			a.Claim = m.claim
		}
		out[m] = answer[provider.Attempt]{value: a}
	}
	return out, nil
}

// encode writes a request without the fields that say nothing: attempts
// are kept on the NodeClaim, where room is scarce.
func encode(in any) (json.RawMessage, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	if raw, err = json.Marshal(pruned(tree)); err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return raw, nil
}

func pruned(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, field := range v {
			// The value of a tag may be empty; an enumeration's may not.
			if field == nil || field == "" && key != "Value" {
				delete(v, key)
				continue
			}
			v[key] = pruned(field)
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	}
	return value
}

// decodeRequest reads an attempt back, and refuses what is not one of ours.
func decodeRequest(attempt *provider.Attempt) (*ec2.CreateFleetInput, error) {
	decoder := json.NewDecoder(bytes.NewReader(attempt.Request))
	decoder.DisallowUnknownFields()
	var in ec2.CreateFleetInput
	if err := decoder.Decode(&in); err != nil {
		return nil, fmt.Errorf("decode request: %w", err)
	}
	switch {
	case sdk.ToString(in.ClientToken) != attempt.Token || attempt.Token == "":
		return nil, fmt.Errorf("decode request: its token %q is not the attempt's %q", sdk.ToString(in.ClientToken), attempt.Token)
	case in.Type != types.FleetTypeInstant:
		return nil, fmt.Errorf("decode request: fleet type %q, want %q", in.Type, types.FleetTypeInstant)
	case len(attempt.Claims) == 0 || !slices.Contains(attempt.Claims, attempt.Owner()):
		return nil, fmt.Errorf("decode request: it is for claims %q and held by %q", attempt.Claims, attempt.Claim)
	case in.TargetCapacitySpecification == nil || int(sdk.ToInt32(in.TargetCapacitySpecification.TotalTargetCapacity)) != len(attempt.Claims):
		return nil, fmt.Errorf("decode request: it does not ask for one instance for each of %d claims", len(attempt.Claims))
	}
	for i := range in.LaunchTemplateConfigs {
		c := &in.LaunchTemplateConfigs[i]
		if c.LaunchTemplateSpecification == nil || len(c.Overrides) == 0 {
			return nil, fmt.Errorf("decode request: launch template configuration %d is empty", i)
		}
	}
	if len(in.LaunchTemplateConfigs) == 0 {
		return nil, errors.New("decode request: it has no launch template configuration")
	}
	return &in, nil
}
