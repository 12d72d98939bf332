package sim

import (
	"math"
	"strconv"
	"strings"

	"spokeshave.dev/controller/core/model"
)

type createFleetRequest struct {
	ClientToken       string
	Context           string
	Type              string
	Configs           []fleetConfig `query:"LaunchTemplateConfigs"`
	Target            *fleetTarget  `query:"TargetCapacitySpecification"`
	OnDemandOptions   *fleetOnDemand
	SpotOptions       *fleetSpot
	ReservedOptions   *fleetReserved     `query:"ReservedCapacityOptions"`
	TagSpecifications []tagSpecification `query:"TagSpecification"`
	ExcessCapacity    string             `query:"ExcessCapacityTerminationPolicy"`
	ReplaceUnhealthy  bool               `query:"ReplaceUnhealthyInstances"`
	TerminateOnExpiry bool               `query:"TerminateInstancesWithExpiration"`
}

type fleetConfig struct {
	Spec      *fleetTemplateXML `query:"LaunchTemplateSpecification"`
	Overrides []fleetOverride
}

type fleetTemplateXML struct {
	ID      string `query:"LaunchTemplateId" xml:"launchTemplateId,omitempty"`
	Name    string `query:"LaunchTemplateName" xml:"launchTemplateName,omitempty"`
	Version string `xml:"version,omitempty"`
}

type fleetOverride struct {
	InstanceType       string        `xml:"instanceType,omitempty"`
	MaxPrice           string        `xml:"maxPrice,omitempty"`
	SubnetID           string        `query:"SubnetId" xml:"subnetId,omitempty"`
	AvailabilityZone   string        `xml:"availabilityZone,omitempty"`
	AvailabilityZoneID string        `query:"AvailabilityZoneId" xml:"availabilityZoneId,omitempty"`
	WeightedCapacity   *float64      `xml:"weightedCapacity"`
	Priority           *float64      `xml:"priority"`
	Placement          *placementXML `xml:"placement"`
	ImageID            string        `query:"ImageId" xml:"imageId,omitempty"`
	BlockDevices       []blockDevice `query:"BlockDeviceMapping" xml:"blockDeviceMappingSet>item"`
}

type fleetTarget struct {
	Total    int    `query:"TotalTargetCapacity"`
	OnDemand *int   `query:"OnDemandTargetCapacity"`
	Spot     *int   `query:"SpotTargetCapacity"`
	Default  string `query:"DefaultTargetCapacityType"`
	Unit     string `query:"TargetCapacityUnitType"`
}

type fleetOnDemand struct {
	AllocationStrategy string
}

type fleetSpot struct {
	AllocationStrategy           string
	InstanceInterruptionBehavior string
	InstancePoolsToUseCount      *int
}

type fleetReserved struct {
	AllocationStrategy string
	ReservationTypes   []string `query:"ReservationType"`
}

// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_ReservedCapacityOptionsRequest.html
func (in *createFleetRequest) checkReserved() error {
	reserved := in.Target.Default == "reserved-capacity"
	o := in.ReservedOptions
	switch {
	case reserved != (o != nil):
		return failf(codeCombination, "ReservedCapacityOptions and DefaultTargetCapacityType reserved-capacity go together")
	case !reserved:
		return nil
	case in.Target.OnDemand != nil || in.Target.Spot != nil:
		return failf(codeCombination, "reserved-capacity does not go with OnDemandTargetCapacity or SpotTargetCapacity")
	case len(o.ReservationTypes) != 1 || o.ReservationTypes[0] != interruptible:
		return failf("UnsupportedOperation", "ec2sim simulates ReservationTypes %s only, not %v", interruptible, o.ReservationTypes)
	default:
		return oneOf("ReservedCapacityOptions.AllocationStrategy", o.AllocationStrategy, "prioritized")
	}
}

// check is what EC2 verifies of a fleet request before it launches anything.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_CreateFleet.html
func (in *createFleetRequest) check() error {
	if err := oneOf("Type", in.Type, "instant", "request", "maintain"); err != nil {
		return err
	}
	switch {
	case in.Type != "instant":
		return failf("UnsupportedOperation", "ec2sim simulates fleets of type instant only; the default type is maintain")
	case in.Target == nil:
		return missing("TargetCapacitySpecification")
	case len(in.Configs) == 0:
		return missing("LaunchTemplateConfigs")
	case len(in.Configs) > 50:
		return failf(codeInvalidValue, "A fleet has at most 50 launch template configurations, not %d", len(in.Configs))
	}
	if err := in.Target.check(); err != nil {
		return err
	}
	if err := in.checkReserved(); err != nil {
		return err
	}
	if o := in.OnDemandOptions; o != nil {
		if err := oneOf("OnDemandOptions.AllocationStrategy", o.AllocationStrategy, "lowest-price", "prioritized"); err != nil {
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
	if err := oneOf("SpotOptions.AllocationStrategy", o.AllocationStrategy, "lowest-price", "diversified",
		"capacity-optimized", "capacity-optimized-prioritized", "price-capacity-optimized"); err != nil {
		return err
	}
	if o.InstancePoolsToUseCount != nil && o.AllocationStrategy != "" && o.AllocationStrategy != "lowest-price" {
		return failf(codeCombination, "InstancePoolsToUseCount can be used with the lowest-price allocation strategy only")
	}
	return oneOf("SpotOptions.InstanceInterruptionBehavior", o.InstanceInterruptionBehavior, "hibernate", "stop", "terminate")
}

// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_TargetCapacitySpecificationRequest.html
func (t *fleetTarget) check() error {
	if err := oneOf("DefaultTargetCapacityType", t.Default, "spot", "on-demand", "capacity-block", "reserved-capacity"); err != nil {
		return err
	}
	onDemand, spot := t.split()
	switch {
	case t.Unit != "" && t.Unit != "units":
		return failf("UnsupportedOperation", "ec2sim does not simulate TargetCapacityUnitType %s", t.Unit)
	case t.Total < 1 || t.Total > 10000: // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/fleet-quotas.html
		return failf(codeInvalidValue, "TotalTargetCapacity must be between 1 and 10000, not %d", t.Total)
	case onDemand < 0 || spot < 0 || onDemand+spot != t.Total:
		return failf(codeInvalidValue, "The on-demand and spot target capacities do not add up to the total of %d", t.Total)
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
		return missing("LaunchTemplateSpecification")
	case c.Spec.Version == "": // https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_FleetLaunchTemplateSpecificationRequest.html
		return missing("LaunchTemplateSpecification.Version")
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
	if p := o.Priority; p != nil && (*p < 0 || *p != math.Trunc(*p) || math.IsInf(*p, 0)) {
		return failf(codeInvalidValue, "Priority must be a whole number starting at 0, not %v", *p)
	}
	if w := o.WeightedCapacity; w != nil && !(*w > 0 && *w < math.MaxInt32) {
		return failf(codeInvalidValue, "WeightedCapacity must be above 0, not %v", *w)
	}
	if o.AvailabilityZone != "" && o.AvailabilityZoneID != "" {
		return failf(codeCombination, "Specify either AvailabilityZone or AvailabilityZoneId, but not both")
	}
	if strings.Contains(o.SubnetID, ",") {
		return failf(codeInvalidValue, "A request of type instant can have only one subnet ID")
	}
	if o.MaxPrice == "" {
		return nil
	}
	if price, err := strconv.ParseFloat(o.MaxPrice, 64); err != nil || !(price >= 0.001) {
		return failf(codeInvalidValue, "MaxPrice must be at least 0.001, not %s", o.MaxPrice)
	}
	return nil
}

type createFleetResult struct {
	FleetID   string          `xml:"fleetId"`
	Instances []fleetInstance `xml:"fleetInstanceSet>item"`
	Errors    []fleetError    `xml:"errorSet>item"`
}

type fleetInstance struct {
	From      templateAndOverrides `xml:"launchTemplateAndOverrides"`
	Lifecycle string               `xml:"lifecycle"`
	IDs       []string             `xml:"instanceIds>item"`
	Type      string               `xml:"instanceType"`
	Platform  string               `xml:"platform,omitempty"`
	SubnetID  string               `xml:"subnetId"`
	Zone      string               `xml:"availabilityZone"`
	ZoneID    string               `xml:"availabilityZoneId"`
}

type fleetError struct {
	From      templateAndOverrides `xml:"launchTemplateAndOverrides"`
	Lifecycle string               `xml:"lifecycle"`
	Code      string               `xml:"errorCode"`
	Message   string               `xml:"errorMessage"`
}

type templateAndOverrides struct {
	Template  fleetTemplateXML `xml:"launchTemplateSpecification"`
	Overrides fleetOverride    `xml:"overrides"`
}

// createFleet launches an instant fleet.
// https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instant-fleet.html
func createFleet(s *Server, c *call, in *createFleetRequest) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	return s.once(c, in.ClientToken, func() (any, error) {
		given, err := tagsFor(in.TagSpecifications, "instance", "fleet", "instance", "volume", "network-interface")
		if err != nil {
			return nil, err
		}
		candidates, err := s.candidates(in)
		if err != nil {
			return nil, err
		}
		if c.dryRun {
			return nil, errDryRun()
		}
		f := &fleetRun{server: s, call: c, tags: given, out: createFleetResult{FleetID: "fleet-" + s.uuid()}}
		f.origin = instance{fleet: f.out.FleetID, reservation: s.newID("r"), token: in.ClientToken}
		onDemand, spot := in.Target.split()
		f.fulfil(s.order(candidates, false, in.onDemandStrategy()), onDemand)
		f.fulfil(s.order(candidates, true, in.spotStrategy()), spot)
		return f.out, nil
	})
}

func (in *createFleetRequest) onDemandStrategy() string {
	if in.ReservedOptions != nil && in.ReservedOptions.AllocationStrategy != "" {
		return in.ReservedOptions.AllocationStrategy
	}
	if in.OnDemandOptions == nil || in.OnDemandOptions.AllocationStrategy == "" {
		return "lowest-price"
	}
	return in.OnDemandOptions.AllocationStrategy
}

func (in *createFleetRequest) spotStrategy() string {
	if in.SpotOptions == nil || in.SpotOptions.AllocationStrategy == "" {
		return "lowest-price"
	}
	return in.SpotOptions.AllocationStrategy
}

// candidate is one override of one template.
type candidate struct {
	from     templateAndOverrides
	data     templateData
	priority float64
	weight   float64
	price    model.Price
	depth    int
	// pool is known once zone and type are.
	spec launchSpec
	err  error
}
