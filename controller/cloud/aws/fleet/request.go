package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/launchtemplate"
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
	// efas is the number of Elastic Fabric Adapters that are attached.
	efas int64
}

// template is what tells the launch templates of a request apart.
func (o *override) template() string {
	out := o.image
	if o.pods > 0 {
		out += "/" + strconv.FormatInt(o.pods, 10)
	}
	if o.efas > 0 {
		out += "/efa" + strconv.FormatInt(o.efas, 10)
	}
	if o.reservation != nil {
		out += "/" + o.reservation.ID
	}
	return out
}

// leading is the run of options that one request can carry: of the first one's
// capacity type, without repetitions, at most maxOptions.
func leading(options []model.Option) []model.Option {
	seen := map[model.Option]bool{}
	var out []model.Option
	for _, o := range options {
		key := model.Option{InstanceType: o.InstanceType, Zone: o.Zone, CapacityType: o.CapacityType}
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

// wanted is what a request is made of, apart from what depends on the claims: their
// number, the token, and the tags of a single one.
type wanted struct {
	// overrides are best first; templates are named by override.template.
	overrides []override
	templates map[string]string
	// tags are those of every instance.
	tags    map[string]string
	context *string
}

// key tells what is wanted apart: equal keys make equal requests. It names everything
// that input writes.
func (w *wanted) key() string {
	sum := sha256.New()
	write := func(parts ...any) {
		for _, p := range parts {
			_, _ = fmt.Fprintf(sum, "%v\x00", p) // a hash never refuses a write
		}
	}
	for i := range w.overrides {
		o := &w.overrides[i]
		write(o.CapacityType, o.InstanceType, o.Zone, o.subnet, w.templates[o.template()])
		if r := o.reservation; r != nil {
			write(r.ID, r.ReservationType, r.Interruptible)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(w.tags)) {
		write("tag", key, w.tags[key])
	}
	write("context", sdk.ToString(w.context))
	if w.overrides[0].CapacityType == model.Spot && ranked(w.overrides) {
		write("ranked")
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// input is the request. Overrides carry their rank as priority: EC2 obeys it on demand,
// takes it as a hint for spot that a policy ranks, and ignores it for other spot.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-allocation-strategy.html
func (w *wanted) input() *ec2.CreateFleetInput {
	overrides, tags := w.overrides, client.Tags(w.tags)
	in := &ec2.CreateFleetInput{
		Type:    types.FleetTypeInstant,
		Context: w.context,
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{
			DefaultTargetCapacityType: types.DefaultTargetCapacityTypeOnDemand,
		},
		TagSpecifications: []types.TagSpecification{
			{ResourceType: types.ResourceTypeInstance, Tags: tags},
			{ResourceType: types.ResourceTypeVolume, Tags: tags},
			{ResourceType: types.ResourceTypeFleet, Tags: tags},
		},
	}
	purchase(in, overrides)
	place := map[string]int{}
	for rank, o := range overrides {
		name := w.templates[o.template()]
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

// ranked reports whether a policy ranks the overrides: whether any costs in effect anything
// but its price.
func ranked(overrides []override) bool {
	return slices.ContainsFunc(overrides, func(o override) bool {
		return math.Abs(o.Effective-o.Price.USD()) > 1e-9
	})
}

// purchase says how the capacity of a request is bought: as its first option is. Spot that
// nobody ranks comes from the pools that EC2 expects to last, the cheapest of these first;
// where a policy ranks, from those in the order of the priorities.
func purchase(in *ec2.CreateFleetInput, overrides []override) {
	first := &overrides[0]
	switch {
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
		in.SpotOptions = &types.SpotOptionsRequest{AllocationStrategy: types.SpotAllocationStrategyPriceCapacityOptimized}
		if ranked(overrides) {
			in.SpotOptions.AllocationStrategy = types.SpotAllocationStrategyCapacityOptimizedPrioritized
		}
	default:
		in.OnDemandOptions = &types.OnDemandOptionsRequest{AllocationStrategy: types.FleetOnDemandAllocationStrategyPrioritized}
	}
}

// sharedTags are the tags of every instance of a request.
func sharedTags(cluster string, class *awsv1.EC2NodeClass, spec *provider.LaunchSpec) map[string]string {
	out := map[string]string{}
	maps.Copy(out, spec.Tags)
	maps.Copy(out, launchtemplate.Tags(cluster, class, spec.NodePool))
	return out
}
