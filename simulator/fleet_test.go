package simulator_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/simulator"
)

const (
	onDemand = ec2types.DefaultTargetCapacityTypeOnDemand
	spot     = ec2types.DefaultTargetCapacityTypeSpot
)

func TestFleetLifecycle(t *testing.T) {
	w := newEndpoint(t)
	ctx := t.Context()
	out, err := w.ec2.CreateFleet(ctx, fleet(w.template(t, "one"), onDemand, override("m5.xlarge", "us-west-2a", 1), override("m5.large", "us-west-2b", 0)))
	wantCode(t, err, "")
	if len(out.Instances) != 1 || len(out.Errors) != 0 {
		t.Fatalf("got %d instances, %d errors", len(out.Instances), len(out.Errors))
	}
	got := out.Instances[0]
	if got.InstanceType != "m5.large" || got.Lifecycle != "on-demand" || *got.LaunchTemplateAndOverrides.Overrides.AvailabilityZone != "us-west-2b" || *got.AvailabilityZone != "us-west-2b" {
		t.Fatalf("launched %+v", got)
	}
	id := got.InstanceIds[0]
	steps := []struct {
		after time.Duration
		state ec2types.InstanceStateName
	}{{0, "pending"}, {5 * time.Second, "running"}}
	for _, step := range steps {
		w.clock.Step(step.after)
		if i := w.describe(t, id); i.State.Name != step.state {
			t.Fatalf("after %v: %s, want %s", step.after, i.State.Name, step.state)
		}
	}
	i := w.describe(t, id)
	if *i.PrivateDnsName != "ip-10-0-32-4.us-west-2.compute.internal" || i.InstanceLifecycle != "" || !i.LaunchTime.Equal(start()) {
		t.Errorf("described %s %q %v", *i.PrivateDnsName, i.InstanceLifecycle, i.LaunchTime)
	}
	tags := map[string]string{}
	for _, tag := range i.Tags {
		tags[*tag.Key] = *tag.Value
	}
	if tags["karpenter.sh/nodepool"] != "default" || tags["aws:ec2:fleet-id"] != *out.FleetId {
		t.Errorf("tags %v", tags)
	}
	ended, err := w.ec2.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{id}})
	wantCode(t, err, "")
	if c := ended.TerminatingInstances[0]; c.PreviousState.Name != "running" || c.CurrentState.Name != "shutting-down" {
		t.Errorf("terminate: %s to %s", c.PreviousState.Name, c.CurrentState.Name)
	}
	w.clock.Step(10 * time.Second)
	if i := w.describe(t, id); i.State.Name != "terminated" || i.PrivateIpAddress != nil {
		t.Errorf("ended as %s, address %v", i.State.Name, i.PrivateIpAddress)
	}
	w.clock.Step(time.Hour)
	_, err = w.ec2.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	wantCode(t, err, "InvalidInstanceID.NotFound")
}

func (w *testEndpoint) describe(t *testing.T, id string) ec2types.Instance {
	t.Helper()
	out, err := w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	wantCode(t, err, "")
	return out.Reservations[0].Instances[0]
}

func TestFleetToken(t *testing.T) {
	w := newEndpoint(t)
	ctx := t.Context()
	in := fleet(w.template(t, "one"), spot, override("m5.large", "us-west-2a", 0))
	in.ClientToken = aws.String("attempt-1")
	first, err := w.ec2.CreateFleet(ctx, in)
	wantCode(t, err, "")
	again, err := w.ec2.CreateFleet(ctx, in)
	wantCode(t, err, "")
	if diff := cmp.Diff(first.Instances[0].InstanceIds, again.Instances[0].InstanceIds); diff != "" || *first.FleetId != *again.FleetId {
		t.Errorf("the replay launched something else: %s", diff)
	}
	if n := w.server.State().Running; n != 1 {
		t.Errorf("%d instances run, want 1", n)
	}
	in.LaunchTemplateConfigs[0].Overrides[0].Priority = aws.Float64(7)
	_, err = w.ec2.CreateFleet(ctx, in)
	wantCode(t, err, "IdempotentParameterMismatch")

	// A fleet that found no capacity is replayed as well, even when there is
	// capacity by then.
	order(t, w, simulator.Fault{Offering: &simulator.Offering{Type: "m5.large"}, Code: "InsufficientInstanceCapacity"})
	in = fleet(w.template(t, "two"), onDemand, override("m5.large", "us-west-2a", 0))
	in.ClientToken = aws.String("attempt-2")
	for range 2 {
		out, err := w.ec2.CreateFleet(ctx, in)
		wantCode(t, err, "")
		if len(out.Instances) != 0 || len(out.Errors) != 1 || *out.Errors[0].ErrorCode != "InsufficientInstanceCapacity" {
			t.Fatalf("got %+v, want the same refusal", out)
		}
	}
	in.ClientToken = aws.String("attempt-3")
	out, err := w.ec2.CreateFleet(ctx, in)
	wantCode(t, err, "")
	if len(out.Instances) != 1 {
		t.Errorf("a new token got %+v, want an instance", out)
	}
	// The token answers for a template that is gone since.
	_, err = w.ec2.DeleteLaunchTemplate(ctx, &ec2.DeleteLaunchTemplateInput{LaunchTemplateName: aws.String("two")})
	wantCode(t, err, "")
	_, err = w.ec2.CreateFleet(ctx, in)
	wantCode(t, err, "")
}

func order(t *testing.T, w *testEndpoint, f simulator.Fault) {
	t.Helper()
	if _, err := w.server.Order(f); err != nil {
		t.Fatal(err)
	}
}

func TestFleetStrategies(t *testing.T) {
	all := []ec2types.FleetLaunchTemplateOverridesRequest{
		override("m5.xlarge", "us-west-2a", 0), override("m5.large", "us-west-2a", 1), override("m5.large", "us-west-2b", 2),
	}
	for name, tc := range map[string]struct {
		reason   string
		kind     ec2types.DefaultTargetCapacityType
		onDemand ec2types.FleetOnDemandAllocationStrategy
		spot     ec2types.SpotAllocationStrategy
		want     string
	}{
		"prioritized":            {"the lowest number wins, whatever the price", onDemand, "prioritized", "", "m5.xlarge us-west-2a"},
		"on-demand lowest-price": {"price decides; equal prices keep the order given", onDemand, "lowest-price", "", "m5.large us-west-2a"},
		"on-demand default":      {"lowest-price is the default", onDemand, "", "", "m5.large us-west-2a"},
		"spot lowest-price":      {"the cheapest pool", spot, "", "lowest-price", "m5.large us-west-2b"},
		"spot prioritized":       {"depth first, which the test makes equal, then priority", spot, "", "capacity-optimized-prioritized", "m5.xlarge us-west-2a"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEndpoint(t, func(c *simulator.Config) { c.Seed = evenSeed })
			in := fleet(w.template(t, "one"), tc.kind, all...)
			in.OnDemandOptions.AllocationStrategy, in.SpotOptions.AllocationStrategy = tc.onDemand, tc.spot
			out, err := w.ec2.CreateFleet(t.Context(), in)
			wantCode(t, err, "")
			got := string(out.Instances[0].InstanceType) + " " + *out.Instances[0].AvailabilityZone
			if got != tc.want {
				t.Errorf("launched %s, want %s: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// evenSeed makes all spot pools of the test equally deep.
const evenSeed = 1

func TestFleetErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		override ec2types.FleetLaunchTemplateOverridesRequest
		kind     ec2types.DefaultTargetCapacityType
		prepare  func(*testEndpoint) error
		code     string
	}{
		"sold out": {
			reason: "a pool bounded to nothing", kind: onDemand, override: override("m5.large", "us-west-2a", 0), code: "InsufficientInstanceCapacity",
			prepare: func(w *testEndpoint) error {
				return w.server.SetCapacity([]simulator.Capacity{{Type: "m5.large", Zone: "us-west-2a", CapacityType: model.OnDemand, Free: new(int)}})
			},
		},
		"not sold in the zone":    {reason: "g5.xlarge is in two zones", kind: onDemand, override: override("g5.xlarge", "us-west-2c", 0), code: "InvalidFleetConfiguration"},
		"not sold as spot":        {reason: "inf2 has no spot price", kind: spot, override: override("inf2.xlarge", "us-west-2a", 0), code: "InvalidFleetConfiguration"},
		"no such type":            {reason: "EC2 has the same code for it", kind: onDemand, override: override("m5.tiny", "us-west-2a", 0), code: "InvalidFleetConfiguration"},
		"no such subnet":          {reason: "shows per override", kind: onDemand, override: ec2types.FleetLaunchTemplateOverridesRequest{InstanceType: "m5.large", SubnetId: aws.String("subnet-00000000")}, code: "InvalidSubnetID.NotFound"},
		"wrong architecture":      {reason: "x86_64 image", kind: onDemand, override: override("m6g.large", "us-west-2a", 0), code: "InvalidParameterValue"},
		"below the spot price":    {reason: "MaxPrice", kind: spot, override: ec2types.FleetLaunchTemplateOverridesRequest{InstanceType: "m5.large", AvailabilityZone: aws.String("us-west-2a"), MaxPrice: aws.String("0.001")}, code: "SpotMaxPriceTooLow"},
		"above the spot quota":    {reason: "4 vCPUs of 3", kind: spot, override: override("m5.xlarge", "us-west-2a", 0), code: "MaxSpotInstanceCountExceeded"},
		"above on-demand's quota": {reason: "96 vCPUs of 10", kind: onDemand, override: override("m5.metal", "us-west-2a", 0), code: "VcpuLimitExceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEndpoint(t, func(c *simulator.Config) { c.SpotVCPUs, c.OnDemandVCPUs = 3, 10 })
			if tc.prepare != nil {
				if err := tc.prepare(w); err != nil {
					t.Fatal(err)
				}
			}
			out, err := w.ec2.CreateFleet(t.Context(), fleet(w.template(t, "one"), tc.kind, tc.override))
			wantCode(t, err, "")
			if len(out.Instances) != 0 || len(out.Errors) != 1 {
				t.Fatalf("got %d instances and %d errors, want one error: %s", len(out.Instances), len(out.Errors), tc.reason)
			}
			if got := *out.Errors[0].ErrorCode; got != tc.code {
				t.Errorf("got %s (%s), want %s: %s", got, *out.Errors[0].ErrorMessage, tc.code, tc.reason)
			}
		})
	}
}

func TestFleetRefused(t *testing.T) {
	one := override("m5.large", "us-west-2a", 0)
	for name, tc := range map[string]struct {
		reason string
		change func(*ec2.CreateFleetInput)
		code   string
	}{
		"strategy":      {"no such strategy", func(in *ec2.CreateFleetInput) { in.OnDemandOptions.AllocationStrategy = "cheapest" }, "InvalidParameterValue"},
		"spot strategy": {"on-demand's, not spot's", func(in *ec2.CreateFleetInput) { in.SpotOptions.AllocationStrategy = "prioritized" }, "InvalidParameterValue"},
		"type":          {"not simulated", func(in *ec2.CreateFleetInput) { in.Type = "maintain" }, "UnsupportedOperation"},
		"capacity":      {"nothing to launch", func(in *ec2.CreateFleetInput) { in.TargetCapacitySpecification.TotalTargetCapacity = aws.Int32(0) }, "InvalidParameterValue"},
		"negative":      {"priorities start at 0", func(in *ec2.CreateFleetInput) { in.LaunchTemplateConfigs[0].Overrides[0].Priority = aws.Float64(-1) }, "InvalidParameterValue"},
		"subnets": {"instant fleets take one", func(in *ec2.CreateFleetInput) {
			in.LaunchTemplateConfigs[0].Overrides[0].SubnetId = aws.String("subnet-1,subnet-2")
		}, "InvalidParameterValue"},
		"unknown template": {"fails the request", func(in *ec2.CreateFleetInput) {
			in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateId = aws.String("lt-00000000000000000")
		}, "InvalidLaunchTemplateId.NotFound"},
		"malformed": {"not an ID", func(in *ec2.CreateFleetInput) {
			in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.LaunchTemplateId = aws.String("template")
		}, "InvalidLaunchTemplateId.Malformed"},
		"version": {"there is one only", func(in *ec2.CreateFleetInput) {
			in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.Version = aws.String("2")
		}, "InvalidLaunchTemplateId.VersionNotFound"},
		"no version": {"required", func(in *ec2.CreateFleetInput) { in.LaunchTemplateConfigs[0].LaunchTemplateSpecification.Version = nil }, "MissingParameter"},
		"duplicate": {"a pool may be named once", func(in *ec2.CreateFleetInput) {
			in.LaunchTemplateConfigs[0].Overrides = append(in.LaunchTemplateConfigs[0].Overrides, one)
		}, "InvalidFleetConfig"},
		"reserved tag": {"aws: is AWS's", func(in *ec2.CreateFleetInput) { in.TagSpecifications[0].Tags[0].Key = aws.String("aws:x") }, "InvalidParameterValue"},
		"resource":     {"fleets create no buckets", func(in *ec2.CreateFleetInput) { in.TagSpecifications[0].ResourceType = "vpc" }, "InvalidParameterValue"},
		"token":        {"64 characters", func(in *ec2.CreateFleetInput) { in.ClientToken = aws.String(string(make([]byte, 65))) }, "InvalidParameterValue"},
		"dry run":      {"nothing is wrong", func(in *ec2.CreateFleetInput) { in.DryRun = aws.Bool(true) }, "DryRunOperation"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newEndpoint(t)
			in := fleet(w.template(t, "one"), onDemand, one)
			tc.change(in)
			_, err := w.ec2.CreateFleet(t.Context(), in)
			wantCode(t, err, tc.code)
			if n := len(w.server.State().Instances); n != 0 {
				t.Errorf("%d instances were launched: %s", n, tc.reason)
			}
		})
	}
}

func TestFleetPassesOverPools(t *testing.T) {
	w := newEndpoint(t)
	order(t, w, simulator.Fault{Action: "CreateFleet", Offering: &simulator.Offering{Type: "m5.large", Zone: "us-west-2a", CapacityType: model.OnDemand}, Code: "InsufficientInstanceCapacity", Forever: true})
	in := fleet(w.template(t, "one"), onDemand, override("m5.large", "us-west-2a", 0), override("m5.large", "us-west-2b", 1), override("m5.large", "us-west-2c", 2))
	in.TargetCapacitySpecification.TotalTargetCapacity = aws.Int32(3)
	out, err := w.ec2.CreateFleet(t.Context(), in)
	wantCode(t, err, "")
	if len(out.Errors) != 1 || *out.Errors[0].LaunchTemplateAndOverrides.Overrides.AvailabilityZone != "us-west-2a" || out.Errors[0].Lifecycle != "on-demand" {
		t.Errorf("errors %+v, want one for us-west-2a", out.Errors)
	}
	if len(out.Instances) != 1 || len(out.Instances[0].InstanceIds) != 3 || *out.Instances[0].AvailabilityZone != "us-west-2b" {
		t.Errorf("instances %+v, want three in us-west-2b", out.Instances)
	}
}

func TestFleetAttempts(t *testing.T) {
	w := newEndpoint(t, func(c *simulator.Config) { c.FleetAttempts = 2 })
	order(t, w, simulator.Fault{Offering: &simulator.Offering{}, Code: "InsufficientInstanceCapacity", Forever: true})
	out, err := w.ec2.CreateFleet(t.Context(), fleet(w.template(t, "one"), onDemand, override("m5.large", "us-west-2a", 0), override("m5.large", "us-west-2b", 1), override("m5.large", "us-west-2c", 2)))
	wantCode(t, err, "")
	var codes []string
	for _, e := range out.Errors {
		codes = append(codes, *e.ErrorCode)
	}
	if diff := cmp.Diff([]string{"InsufficientInstanceCapacity", "InsufficientInstanceCapacity", "UnfulfillableCapacity"}, codes); diff != "" {
		t.Error(diff)
	}
}

func TestFleetTimesOutAfterSuccess(t *testing.T) {
	w := newEndpoint(t)
	in := fleet(w.template(t, "one"), onDemand, override("m5.large", "us-west-2a", 0))
	in.ClientToken = aws.String("attempt-1")
	order(t, w, simulator.Fault{Action: "CreateFleet", AfterSuccess: true})
	if _, err := w.ec2.CreateFleet(t.Context(), in); err == nil {
		t.Fatal("the connection was to be cut")
	}
	out, err := w.ec2.CreateFleet(t.Context(), in)
	wantCode(t, err, "")
	if n := w.server.State().Running; len(out.Instances) != 1 || n != 1 {
		t.Errorf("%d instances run after a repeat, want 1", n)
	}
}

func TestEventualConsistency(t *testing.T) {
	w := newEndpoint(t, func(c *simulator.Config) { c.Lag = 3 * time.Second })
	out, err := w.ec2.CreateFleet(t.Context(), fleet(w.template(t, "one"), onDemand, override("m5.large", "us-west-2a", 0)))
	wantCode(t, err, "")
	id := out.Instances[0].InstanceIds[0]
	_, err = w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{InstanceIds: []string{id}})
	wantCode(t, err, "InvalidInstanceID.NotFound")
	list, err := w.ec2.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{})
	wantCode(t, err, "")
	if len(list.Reservations) != 0 {
		t.Error("a new instance is listed before the lag is over")
	}
	w.clock.Step(3 * time.Second)
	w.describe(t, id)
}
