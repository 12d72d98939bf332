// Package ec2 is EC2 for one account in one region, as far as a node autoscaler
// calls it: fleets of type instant, RunInstances, launch templates, tags, and the
// Describe calls. Each rule stands beside the page of AWS's documentation that
// states it.
//
// An instance's state is a function of time: it is settled when somebody looks,
// so a test that steps the clock sees every state it wants to.
//
// Not here: fleets of type maintain and request, and virtual machines. What
// boots on an instance is played by simulator/joiner.
package ec2

import (
	"time"

	"spokeshave.dev/simulator/fault"
	"spokeshave.dev/simulator/iam"
	"spokeshave.dev/simulator/ids"
	"spokeshave.dev/simulator/market"
	"spokeshave.dev/simulator/operation"
)

// Profiles finds instance profiles. *iam.Service implements it.
type Profiles interface {
	// Resolve finds the profile of a launch by name or ARN, one of which is given;
	// its error is one of AWS.
	Resolve(name, arn string) (iam.Profile, error)
}

// Quota bounds the vCPUs that an account runs; 0 is no bound.
type Quota struct{ OnDemandVCPUs, SpotVCPUs int }

// Config is what EC2 is made of.
type Config struct {
	Account  ids.Account
	IDs      *ids.Source
	Market   *market.Market
	Profiles Profiles
	Faults   *fault.Schedule
	// Cluster is the EKS cluster for which subnets and a security group are tagged.
	Cluster string
	// KubernetesVersion decides which EKS optimized images there are.
	KubernetesVersion string
	Pace              Pace
	Quota             Quota
	// FleetAttempts is how many pools a fleet tries before it reports the rest as
	// UnfulfillableCapacity; 0 tries them all.
	FleetAttempts int
	Limits        Limits
}

// Service is EC2. It is not safe for concurrent use.
type Service struct {
	account      ids.Account
	ids          *ids.Source
	network      *network
	images       *images
	templates    *templates
	offerings    *offerings
	instances    *instances
	placements   *placements
	reservations *reservations
	reader       *reader
	launcher     *launcher
	tagger       *tagger
	tokens       *tokens
	attempts     int
}

// New is EC2 with a network and images, and nothing launched.
func New(cfg Config) *Service {
	s := &Service{account: cfg.Account, ids: cfg.IDs, network: newNetwork(&cfg), images: newImages(&cfg), attempts: cfg.FleetAttempts}
	s.tokens = &tokens{answers: make(map[string]*remembered)}
	s.templates = &templates{account: cfg.Account, ids: cfg.IDs, tokens: s.tokens, limits: cfg.Limits}
	s.offerings = &offerings{region: cfg.Account.Region, market: cfg.Market}
	s.instances = &instances{market: cfg.Market, pace: cfg.Pace, byID: make(map[string]*instance)}
	s.placements = &placements{ids: cfg.IDs, instances: s.instances}
	s.reservations = &reservations{account: cfg.Account, ids: cfg.IDs, market: cfg.Market, instances: s.instances}
	s.reader = &reader{cfg.Account, cfg.IDs, s.network, s.instances, s.reservations, s.placements}
	s.launcher = &launcher{
		account: cfg.Account, ids: cfg.IDs, market: cfg.Market, faults: cfg.Faults, profiles: cfg.Profiles, quota: cfg.Quota, limits: cfg.Limits,
		network: s.network, images: s.images, instances: s.instances, reservations: s.reservations, placements: s.placements,
	}
	s.tagger = &tagger{s.instances, s.templates, s.network, s.images}
	return s
}

// Operations are the actions that this service answers.
func (s *Service) Operations() map[string]operation.Operation {
	run := &runner{s.launcher, s.templates, s.tokens, s.reader}
	fleet := &fleets{s.launcher, s.templates, s.tokens, s.attempts}
	return map[string]operation.Operation{
		"CreateFleet":                    operation.Writes(fleet.createFleet),
		"RunInstances":                   operation.Writes(run.runInstances),
		"TerminateInstances":             operation.Writes(s.instances.terminateInstances),
		"DescribeInstances":              operation.Reads(s.reader.describeInstances),
		"DescribeInstanceStatus":         operation.Reads(s.reader.describeStatus),
		"DescribeInstanceAttribute":      operation.Reads(s.reader.describeAttribute),
		"DescribeVolumes":                operation.Reads(s.reader.describeVolumes),
		"CreateTags":                     operation.Writes(s.tagger.createTags),
		"DeleteTags":                     operation.Writes(s.tagger.deleteTags),
		"DescribeTags":                   operation.Reads(s.tagger.describeTags),
		"CreateLaunchTemplate":           operation.Writes(s.templates.createTemplate),
		"CreateLaunchTemplateVersion":    operation.Writes(s.templates.createTemplateVersion),
		"DeleteLaunchTemplate":           operation.Writes(s.templates.deleteTemplate),
		"DeleteLaunchTemplateVersions":   operation.Writes(s.templates.deleteTemplateVersions),
		"DescribeLaunchTemplates":        operation.Reads(s.templates.describeTemplates),
		"DescribeLaunchTemplateVersions": operation.Reads(s.templates.describeVersions),
		"DescribeInstanceTypes":          operation.Reads(s.offerings.describeTypes),
		"DescribeInstanceTypeOfferings":  operation.Reads(s.offerings.describeOfferings),
		"DescribeSpotPriceHistory":       operation.Reads(s.offerings.describeSpotPrices),
		"DescribeSubnets":                operation.Reads(s.network.describeSubnets),
		"DescribeSecurityGroups":         operation.Reads(s.network.describeSecurityGroups),
		"DescribeAvailabilityZones":      operation.Reads(s.network.describeZones),
		"DescribeRegions":                operation.Reads(s.network.describeRegions),
		"DescribeImages":                 operation.Reads(s.images.describeImages),
		"DescribeCapacityReservations":   operation.Reads(s.reservations.describeReservations),
		"DescribePlacementGroups":        operation.Reads(s.placements.describePlacementGroups),
	}
}

// Settle does what time has brought about; it is called before every operation.
func (s *Service) Settle(now time.Time) { s.instances.settle(now) }

// Parameters are the SSM parameters that name images, and when the newest images
// were published.
func (s *Service) Parameters() (values map[string]string, published time.Time) {
	return s.images.parameters, releases()[len(releases())-1].day
}

// Network names the VPC, its subnets, and the cluster's security group.
func (s *Service) Network() (vpc string, subnets []string, group string) {
	for _, sn := range s.network.subnets {
		subnets = append(subnets, sn.id)
	}
	return s.network.vpcID, subnets, s.network.groups[1].id
}

// Pace is how fast things happen to instances launched or ended from now on.
// The caller may change it.
func (s *Service) Pace() *Pace { return &s.instances.pace }

// Reserve makes or changes capacity reservations, and tells them with their IDs.
func (s *Service) Reserve(all []Reservation) ([]Reservation, error) {
	return s.reservations.reserve(all)
}

// Place makes placement groups, and tells them with their IDs.
func (s *Service) Place(all []PlacementGroup) ([]PlacementGroup, error) {
	return s.placements.place(all)
}
