package ec2

import (
	"math"
	"strconv"
	"strings"

	"spokeshave.dev/simulator/awserr"
)

// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ReservedCapacityOptionsRequest.html
func (in *createFleetRequest) checkReserved() error {
	reserved := in.Target.Default == "reserved-capacity"
	o := in.ReservedOptions
	switch {
	case reserved != (o != nil):
		return awserr.New(awserr.InvalidCombination, "ReservedCapacityOptions and DefaultTargetCapacityType reserved-capacity go together")
	case !reserved:
		return nil
	case in.Target.OnDemand != nil || in.Target.Spot != nil:
		return awserr.New(awserr.InvalidCombination, "reserved-capacity does not go with OnDemandTargetCapacity or SpotTargetCapacity")
	case len(o.ReservationTypes) != 1 || o.ReservationTypes[0] != interruptible:
		return awserr.New("UnsupportedOperation", "ec2sim simulates ReservationTypes %s only, not %v", interruptible, o.ReservationTypes)
	default:
		return awserr.OneOf("ReservedCapacityOptions.AllocationStrategy", o.AllocationStrategy, "prioritized")
	}
}

// check is what EC2 verifies of a fleet request before it launches anything.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateFleet.html
func (in *createFleetRequest) check() error {
	if err := awserr.OneOf("Type", in.Type, "instant", "request", "maintain"); err != nil {
		return err
	}
	switch {
	case in.Type != "instant":
		return awserr.New("UnsupportedOperation", "ec2sim simulates fleets of type instant only; the default type is maintain")
	case in.Target == nil:
		return awserr.Missing("TargetCapacitySpecification")
	case len(in.Configs) == 0:
		return awserr.Missing("LaunchTemplateConfigs")
	case len(in.Configs) > 50:
		return awserr.New(awserr.InvalidValue, "A fleet has at most 50 launch template configurations, not %d", len(in.Configs))
	}
	if err := in.Target.check(); err != nil {
		return err
	}
	if err := in.checkReserved(); err != nil {
		return err
	}
	if o := in.OnDemandOptions; o != nil {
		if err := awserr.OneOf("OnDemandOptions.AllocationStrategy", o.AllocationStrategy, "lowest-price", "prioritized"); err != nil {
			return err
		}
	}
	if o := in.SpotOptions; o != nil {
		if err := o.check(); err != nil {
			return err
		}
	}
	for c := range in.Configs {
		if err := in.Configs[c].check(); err != nil {
			return err
		}
	}
	return nil
}

// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_SpotOptionsRequest.html
func (o *fleetSpot) check() error {
	if err := awserr.OneOf("SpotOptions.AllocationStrategy", o.AllocationStrategy, "lowest-price", "diversified",
		"capacity-optimized", "capacity-optimized-prioritized", "price-capacity-optimized"); err != nil {
		return err
	}
	if o.InstancePoolsToUseCount != nil && o.AllocationStrategy != "" && o.AllocationStrategy != "lowest-price" {
		return awserr.New(awserr.InvalidCombination, "InstancePoolsToUseCount can be used with the lowest-price allocation strategy only")
	}
	return awserr.OneOf("SpotOptions.InstanceInterruptionBehavior", o.InstanceInterruptionBehavior, "hibernate", "stop", "terminate")
}

// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_TargetCapacitySpecificationRequest.html
func (t *fleetTarget) check() error {
	if err := awserr.OneOf("DefaultTargetCapacityType", t.Default, "spot", "on-demand", "capacity-block", "reserved-capacity"); err != nil {
		return err
	}
	onDemand, spot := t.split()
	switch {
	case t.Unit != "" && t.Unit != "units":
		return awserr.New("UnsupportedOperation", "ec2sim does not simulate TargetCapacityUnitType %s", t.Unit)
	case t.Total < 1 || t.Total > 10000: // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/fleet-quotas.html
		return awserr.New(awserr.InvalidValue, "TotalTargetCapacity must be between 1 and 10000, not %d", t.Total)
	case onDemand < 0 || spot < 0 || onDemand+spot != t.Total:
		return awserr.New(awserr.InvalidValue, "The on-demand and spot target capacities do not add up to the total of %d", t.Total)
	default:
		return nil
	}
}

// split is how many units to fulfil on-demand and spot; without a default type
// the rest is on-demand.
func (t *fleetTarget) split() (onDemand, spot int) {
	if t.OnDemand != nil {
		onDemand = *t.OnDemand
	}
	if t.Spot != nil {
		spot = *t.Spot
	}
	if rest := t.Total - onDemand - spot; t.Default == "spot" {
		spot += rest
	} else {
		onDemand += rest
	}
	return onDemand, spot
}

func (c *fleetConfig) check() error {
	switch {
	case c.Spec == nil:
		return awserr.Missing("LaunchTemplateSpecification")
	case c.Spec.Version == "": // https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_FleetLaunchTemplateSpecificationRequest.html
		return awserr.Missing("LaunchTemplateSpecification.Version")
	}
	for i := range c.Overrides {
		if err := c.Overrides[i].check(); err != nil {
			return err
		}
	}
	return nil
}

// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_FleetLaunchTemplateOverridesRequest.html
func (o *fleetOverride) check() error {
	// The documentation wants whole numbers; EC2 accepts fractions, which Karpenter
	// sends with every fleet (a price such as 0.0042).
	if p := o.Priority; p != nil && !(*p >= 0 && *p < math.MaxInt32) {
		return awserr.New(awserr.InvalidValue, "Priority must be a number starting at 0, not %v", *p)
	}
	if w := o.WeightedCapacity; w != nil && !(*w > 0 && *w < math.MaxInt32) {
		return awserr.New(awserr.InvalidValue, "WeightedCapacity must be above 0, not %v", *w)
	}
	if o.AvailabilityZone != "" && o.AvailabilityZoneID != "" {
		return awserr.New(awserr.InvalidCombination, "Specify either AvailabilityZone or AvailabilityZoneId, but not both")
	}
	if strings.Contains(o.SubnetID, ",") {
		return awserr.New(awserr.InvalidValue, "A request of type instant can have only one subnet ID")
	}
	if o.MaxPrice == "" {
		return nil
	}
	if price, err := strconv.ParseFloat(o.MaxPrice, 64); err != nil || !(price >= 0.001) {
		return awserr.New(awserr.InvalidValue, "MaxPrice must be at least 0.001, not %s", o.MaxPrice)
	}
	return nil
}
