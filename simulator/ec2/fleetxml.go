package ec2

import (
	"spokeshave.dev/simulator/tag"
)

type createFleetRequest struct {
	ClientToken       string
	Context           string
	Type              string
	Configs           []fleetConfig `query:"LaunchTemplateConfigs"`
	Target            *fleetTarget  `query:"TargetCapacitySpecification"`
	OnDemandOptions   *fleetOnDemand
	SpotOptions       *fleetSpot
	ReservedOptions   *fleetReserved      `query:"ReservedCapacityOptions"`
	TagSpecifications []tag.Specification `query:"TagSpecification"`
	ExcessCapacity    string              `query:"ExcessCapacityTerminationPolicy"`
	ReplaceUnhealthy  bool                `query:"ReplaceUnhealthyInstances"`
	TerminateOnExpiry bool                `query:"TerminateInstancesWithExpiration"`
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
