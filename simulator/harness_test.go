package simulator_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	clocktesting "k8s.io/utils/clock/testing"

	"spokeshave.dev/controller/cloud/catalog"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/simulator"
	endpoint "spokeshave.dev/test/kit/ec2"
)

const region = endpoint.Region

func start() time.Time { return time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC) }

// testEndpoint is a server with a clock of its own and the SDK's way to it.
type testEndpoint struct {
	server *simulator.Server
	clock  *clocktesting.FakeClock
	url    string
	cfg    aws.Config
	ec2    *ec2.Client
}

func types() ([]catalog.Type, []catalog.Sale) {
	zones := []string{"us-west-2a", "us-west-2b", "us-west-2c"}
	spot := func(a, b, c float64) map[string]model.Price {
		return map[string]model.Price{zones[0]: model.PriceOf(a), zones[1]: model.PriceOf(b), zones[2]: model.PriceOf(c)}
	}
	facts := []catalog.Type{
		{Name: "m5.large", Arch: "amd64", VCPU: 2, MemoryMiB: 8192, Hypervisor: "nitro", ENIs: 3, IPv4PerENI: 10, NetworkMbps: 750, EBSMbps: 4750, CPUManufacturer: "intel", ClockMHz: 3100},
		{Name: "m5.xlarge", Arch: "amd64", VCPU: 4, MemoryMiB: 16384, Hypervisor: "nitro", ENIs: 4, IPv4PerENI: 15},
		{Name: "m6g.large", Arch: "arm64", VCPU: 2, MemoryMiB: 8192, Hypervisor: "nitro", ENIs: 3, IPv4PerENI: 10, CPUManufacturer: "aws"},
		{Name: "g5.xlarge", Arch: "amd64", VCPU: 4, MemoryMiB: 16384, Hypervisor: "nitro", ENIs: 4, IPv4PerENI: 15, LocalNVMeGB: 250, GPUs: []catalog.Device{{Name: "A10G", Manufacturer: "NVIDIA", Count: 1, MemoryMiB: 24576}}},
		{Name: "inf2.xlarge", Arch: "amd64", VCPU: 4, MemoryMiB: 16384, Hypervisor: "nitro", ENIs: 4, IPv4PerENI: 15, EFAs: 1, Accelerators: []catalog.Device{{Name: "Inferentia2", Manufacturer: "AWS", Count: 1, MemoryMiB: 32768}}},
		{Name: "m5.metal", Arch: "amd64", VCPU: 96, MemoryMiB: 393216, BareMetal: true, ENIs: 15, IPv4PerENI: 50},
	}
	sales := []catalog.Sale{
		{Type: "m5.large", OnDemand: model.PriceOf(0.096), Spot: spot(0.035, 0.033, 0.04), Zones: zones},
		{Type: "m5.xlarge", OnDemand: model.PriceOf(0.192), Spot: spot(0.07, 0.066, 0.08), Zones: zones},
		{Type: "m6g.large", OnDemand: model.PriceOf(0.077), Spot: spot(0.03, 0.031, 0.032), Zones: zones},
		{Type: "g5.xlarge", OnDemand: model.PriceOf(1.006), Zones: zones[:2]},
		{Type: "inf2.xlarge", OnDemand: model.PriceOf(0.7582), Zones: zones[:1]},
		{Type: "m5.metal", OnDemand: model.PriceOf(4.608), Zones: zones},
	}
	return facts, sales
}

func newEndpoint(t *testing.T, change ...func(*simulator.Config)) *testEndpoint {
	t.Helper()
	w := &testEndpoint{clock: clocktesting.NewFakeClock(start())}
	facts, sales := types()
	small := func(cfg *simulator.Config) {
		cfg.Clock, cfg.Types, cfg.Sales, cfg.PendingDelay, cfg.ShutdownDelay = w.clock, facts, sales, 5*time.Second, 10*time.Second
	}
	at := endpoint.Start(t, nil, slices.Concat([]func(*simulator.Config){small}, change)...)
	w.server, w.url = at.Server, at.URL
	w.cfg = endpoint.WithoutRetries(endpoint.SDK(at.URL))
	w.ec2 = ec2.NewFromConfig(w.cfg)
	return w
}

// wantCode fails unless the error is AWS's with the code; "" wants success.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	var failure smithy.APIError
	switch {
	case code == "" && err != nil:
		t.Fatalf("unexpected error: %v", err)
	case code == "":
	case !errors.As(err, &failure):
		t.Fatalf("got error %v, want code %s", err, code)
	case failure.ErrorCode() != code:
		t.Fatalf("got %s (%s), want code %s", failure.ErrorCode(), failure.ErrorMessage(), code)
	}
}

// template makes a launch template for amd64 and gives its ID.
func (w *testEndpoint) template(t *testing.T, name string) string {
	t.Helper()
	out, err := w.ec2.CreateLaunchTemplate(t.Context(), &ec2.CreateLaunchTemplateInput{
		LaunchTemplateName: &name,
		LaunchTemplateData: &ec2types.RequestLaunchTemplateData{ImageId: aws.String(w.image(t, "x86_64")), UserData: aws.String("aGVsbG8=")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return *out.LaunchTemplate.LaunchTemplateId
}

func (w *testEndpoint) image(t *testing.T, arch string) string {
	t.Helper()
	out, err := w.ec2.DescribeImages(t.Context(), &ec2.DescribeImagesInput{
		Owners:  []string{"amazon"},
		Filters: []ec2types.Filter{{Name: aws.String("name"), Values: []string{"amazon-eks-node-al2023-" + arch + "-standard-1.36-v*"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Images) != 2 {
		t.Fatalf("got %d images, want 2 releases", len(out.Images))
	}
	return *out.Images[1].ImageId
}

// fleet is a request for one instance from template and overrides.
func fleet(template string, kind ec2types.DefaultTargetCapacityType, overrides ...ec2types.FleetLaunchTemplateOverridesRequest) *ec2.CreateFleetInput {
	return &ec2.CreateFleetInput{
		Type: ec2types.FleetTypeInstant,
		LaunchTemplateConfigs: []ec2types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &ec2types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateId: &template, Version: aws.String("$Latest")},
			Overrides:                   overrides,
		}},
		TargetCapacitySpecification: &ec2types.TargetCapacitySpecificationRequest{TotalTargetCapacity: aws.Int32(1), DefaultTargetCapacityType: kind},
		OnDemandOptions:             &ec2types.OnDemandOptionsRequest{AllocationStrategy: ec2types.FleetOnDemandAllocationStrategyPrioritized},
		SpotOptions:                 &ec2types.SpotOptionsRequest{AllocationStrategy: ec2types.SpotAllocationStrategyCapacityOptimizedPrioritized},
		TagSpecifications: []ec2types.TagSpecification{{
			ResourceType: ec2types.ResourceTypeInstance,
			Tags:         []ec2types.Tag{{Key: aws.String("karpenter.sh/nodepool"), Value: aws.String("default")}},
		}},
	}
}

func override(kind ec2types.InstanceType, zone string, priority float64) ec2types.FleetLaunchTemplateOverridesRequest {
	return ec2types.FleetLaunchTemplateOverridesRequest{InstanceType: kind, AvailabilityZone: &zone, Priority: &priority}
}
