package fleet

import (
	"errors"
	"fmt"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/aws/launchtemplate"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// refusal is one override's error in an answer to CreateFleet.
type refusal struct {
	kind    provider.Kind
	code    string
	message string
	// options are those concerned: one, or all when the error names none.
	options []model.Option
	// reservation is the one that was drawn on, if any.
	reservation string
}

// refused turns the errors of a fleet that started nothing into one. It is
// definitive whatever they are: EC2 answers the same token with the same
// failure for ever.
func (l *Launcher) refused(claim string, in *ec2.CreateFleetInput, failures []types.CreateFleetError) error {
	all := l.learn(in, failures)
	if len(all) == 0 {
		return client.SoldOut(nil, "", fmt.Errorf("launch %s: EC2 started nothing and gave no reason", claim))
	}
	worst := all[0]
	var offerings []model.Option
	for _, r := range all {
		if weight(r.kind) > weight(worst.kind) {
			worst = r
		}
		if r.kind == provider.InsufficientCapacity || r.kind == provider.Quota {
			offerings = append(offerings, r.options...)
		}
	}
	why := explain(all)
	if advice := client.AdviceFor(worst.kind, worst.code); advice != "" {
		why += " (" + advice + named(&worst) + ")"
	}
	kind := worst.kind
	if !kind.Definitive() {
		// EC2 was busy. The fleet is over: only another one can bring the instance.
		kind = provider.Stale
	}
	return &provider.Error{Kind: kind, Code: worst.code, Offerings: offerings, Err: fmt.Errorf("launch %s: %s", claim, why)}
}

// refusedWhole notes a call that EC2 refused as a whole, and started nothing for. What it
// has no capacity or no quota for is left alone, as if each override had been refused.
func (l *Launcher) refusedWhole(in *ec2.CreateFleetInput, failure error) error {
	known, ok := errors.AsType[*provider.Error](failure)
	if !ok || known.Kind != provider.InsufficientCapacity && known.Kind != provider.Quota {
		l.cfg.Metrics.refused(provider.KindOf(failure), asked(in))
		return failure
	}
	all := l.learn(in, []types.CreateFleetError{{ErrorCode: sdk.String(known.Code), ErrorMessage: sdk.String(failure.Error())}})
	return &provider.Error{Kind: known.Kind, Code: known.Code, Offerings: all[0].options, Err: known.Err}
}

// named is the quota that a refusal for want of vCPUs is about, in words.
func named(r *refusal) string {
	if r.code != codeVCPULimit && r.code != codeSpotLimit || len(r.options) == 0 {
		return ""
	}
	name, code := vcpuQuota(r.options[0].InstanceType, r.options[0].CapacityType)
	if code == "" {
		return ""
	}
	return fmt.Sprintf("; the quota is %s, code %s of service ec2", name, code)
}

// weight orders kinds by what the caller does about them: sold-out options are
// left out and solved around, whatever stood in the way of the others.
func weight(k provider.Kind) int {
	switch k {
	case provider.InsufficientCapacity:
		return 2
	case provider.Quota:
		return 1
	case provider.NotFound, provider.ClassNotReady, provider.Unauthorized, provider.Invalid, provider.Stale:
		return 0
	case provider.Throttled, provider.Unavailable:
		return -1 // what else was in the way is what people have to know
	default:
		return 0
	}
}

// learn reads the errors of a fleet and marks the offerings that cannot be had.
func (l *Launcher) learn(in *ec2.CreateFleetInput, failures []types.CreateFleetError) []refusal {
	now := l.cfg.Clock()
	out := make([]refusal, 0, len(failures))
	for i := range failures {
		r := refusalOf(in, &failures[i])
		switch {
		case r.kind == provider.InsufficientCapacity && r.reservation != "":
			l.cfg.Reservations.Exhausted(r.reservation)
		case r.kind == provider.InsufficientCapacity || r.kind == provider.Quota:
			l.cfg.Shortage.Mark(now, r.options, l.scope(in, &r))
			if group, ok := l.wide(in, &r); ok {
				l.cfg.Shortage.MarkGroup(now, group)
			}
		}
		if r.kind == provider.NotFound || r.kind == provider.Invalid {
			for j := range in.LaunchTemplateConfigs {
				l.cfg.Templates.Forget(sdk.ToString(in.LaunchTemplateConfigs[j].LaunchTemplateSpecification.LaunchTemplateName))
			}
		}
		l.cfg.Metrics.refused(r.kind, r.options)
		out = append(out, r)
	}
	return out
}

// scope is the placement group, by its ID, that lacks the capacity; "" for the zone, for a
// quota, and for a request that another process has prepared. All templates of a request are
// of one class.
func (l *Launcher) scope(in *ec2.CreateFleetInput, r *refusal) string {
	if r.kind != provider.InsufficientCapacity {
		return ""
	}
	return l.cfg.Templates.GroupOf(sdk.ToString(in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateName))
}

func refusalOf(in *ec2.CreateFleetInput, failure *types.CreateFleetError) refusal {
	r := refusal{code: sdk.ToString(failure.ErrorCode), message: sdk.ToString(failure.ErrorMessage)}
	r.kind = kindInFleet(r.code, r.message)
	ct := capacityType(in)
	instanceType := ""
	if named := failure.LaunchTemplateAndOverrides; named != nil && named.Overrides != nil {
		instanceType = string(named.Overrides.InstanceType)
	}
	if instanceType != "" {
		sent, template := sentOverride(in, instanceType, failure.LaunchTemplateAndOverrides)
		r.reservation = launchtemplate.ReservationIn(template)
		r.options = []model.Option{{InstanceType: instanceType, Zone: sdk.ToString(sent.AvailabilityZone), CapacityType: ct}}
		return r
	}
	r.options = asked(in)
	return r
}

// kindInFleet is the kind of an error that names one override. Codes that elsewhere speak
// of the request speak of the override here: another one may be launched.
func kindInFleet(code, message string) provider.Kind {
	switch code {
	case "UnsupportedOperation", "InvalidInstanceType":
		return provider.InsufficientCapacity
	case "InvalidFleetConfiguration":
		if strings.Contains(message, "not supported") {
			return provider.InsufficientCapacity
		}
	}
	if kind, known := client.KindOfCode(code); known {
		return kind
	}
	return provider.Invalid
}

// explain says what EC2 said, once per code, with the first option concerned.
func explain(all []refusal) string {
	var out []string
	said := map[string]bool{}
	for _, r := range all {
		if said[r.code] {
			continue
		}
		said[r.code] = true
		o := r.options[0]
		out = append(out, fmt.Sprintf("%s for %s %s in %s (%s)", r.code, o.CapacityType, o.InstanceType, o.Zone, strings.TrimSuffix(r.message, ".")))
	}
	return strings.Join(out, "; ")
}

// sentOverride finds the override of the request that an answer speaks of, and
// the name of its launch template. A type stands in one subnet per zone.
func sentOverride(in *ec2.CreateFleetInput, instanceType string, named *types.LaunchTemplateAndOverridesResponse) (types.FleetLaunchTemplateOverridesRequest, string) {
	var subnet, zone string
	if named != nil && named.Overrides != nil {
		subnet, zone = sdk.ToString(named.Overrides.SubnetId), sdk.ToString(named.Overrides.AvailabilityZone)
	}
	for i := range in.LaunchTemplateConfigs {
		config := &in.LaunchTemplateConfigs[i]
		for _, o := range config.Overrides {
			if string(o.InstanceType) != instanceType ||
				subnet != "" && sdk.ToString(o.SubnetId) != subnet ||
				subnet == "" && zone != "" && sdk.ToString(o.AvailabilityZone) != zone {
				continue
			}
			return o, sdk.ToString(config.LaunchTemplateSpecification.LaunchTemplateName)
		}
	}
	return types.FleetLaunchTemplateOverridesRequest{}, ""
}

func capacityType(in *ec2.CreateFleetInput) model.CapacityType {
	if in.TargetCapacitySpecification.DefaultTargetCapacityType == types.DefaultTargetCapacityTypeSpot {
		return model.Spot
	}
	if t := in.LaunchTemplateConfigs[0].LaunchTemplateSpecification; launchtemplate.ReservationIn(sdk.ToString(t.LaunchTemplateName)) != "" {
		return model.Reserved
	}
	return model.OnDemand
}

// asked are all offerings of a launch request.
func asked(in *ec2.CreateFleetInput) []model.Option {
	var out []model.Option
	for i := range in.LaunchTemplateConfigs {
		for _, o := range in.LaunchTemplateConfigs[i].Overrides {
			out = append(out, model.Option{InstanceType: string(o.InstanceType), Zone: sdk.ToString(o.AvailabilityZone), CapacityType: capacityType(in)})
		}
	}
	return out
}
