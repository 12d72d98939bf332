package fleet

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/test/kit/instancetype"
)

// Whatever AWS refuses with, people read its code, what it said, and what to do;
// conditions and events show the error as it is.
func TestErrorsToPeople(t *testing.T) {
	for code, want := range map[string]struct {
		kind   provider.Kind
		status int
		advice string
	}{
		"InsufficientInstanceCapacity":                      {provider.InsufficientCapacity, 500, "more types and zones"},
		"UnfulfillableCapacity":                             {provider.InsufficientCapacity, 500, "more types and zones"},
		"ReservationCapacityExceeded":                       {provider.InsufficientCapacity, 400, "another offering"},
		"SpotMaxPriceTooLow":                                {provider.InsufficientCapacity, 400, "another offering"},
		"InsufficientFreeAddressesInSubnet":                 {provider.InsufficientCapacity, 400, "subnetSelectorTerms"},
		"Unsupported":                                       {provider.InsufficientCapacity, 400, "does not sell"},
		"VcpuLimitExceeded":                                 {provider.Quota, 400, "Service Quotas"},
		"MaxSpotInstanceCountExceeded":                      {provider.Quota, 400, "Service Quotas"},
		"MaxTemplateLimitExceeded":                          {provider.Quota, 400, "Service Quotas"},
		"InsufficientVolumeCapacity":                        {provider.InsufficientCapacity, 500, "more types and zones"},
		"ServerInternal":                                    {provider.Unavailable, 500, "tried again"},
		"ConcurrentTagAccess":                               {provider.Unavailable, 400, "tried again"},
		"RequestExpired":                                    {provider.Unauthorized, 400, "IAM role"},
		"VolumeLimitExceeded":                               {provider.Quota, 400, "Service Quotas"},
		"LimitExceeded":                                     {provider.Quota, 409, "Service Quotas"},
		"RequestLimitExceeded":                              {provider.Throttled, 503, "more slowly"},
		"ThrottlingException":                               {provider.Throttled, 400, "more slowly"},
		"UnauthorizedOperation":                             {provider.Unauthorized, 403, "IAM role"},
		"AccessDenied":                                      {provider.Unauthorized, 403, "IAM role"},
		"AccessDeniedException":                             {provider.Unauthorized, 400, "IAM role"},
		"AuthFailure":                                       {provider.Unauthorized, 401, "IAM role"},
		"AuthFailure.ServiceLinkedRoleCreationNotPermitted": {provider.Quota, 403, "create-service-linked-role"},
		"ExpiredToken":                                      {provider.Unauthorized, 403, "Pod Identity"},
		"ExpiredTokenException":                             {provider.Unauthorized, 400, "Pod Identity"},
		"InvalidSubnetID.NotFound":                          {provider.NotFound, 400, "correct what names it"},
		"InvalidAMIID.NotFound":                             {provider.NotFound, 400, "correct what names it"},
		"InvalidPlacementGroup.Unknown":                     {provider.NotFound, 400, "correct what names it"},
		"InvalidCapacityReservationId.NotFound":             {provider.NotFound, 400, "correct what names it"},
		"NoSuchEntity":                                      {provider.NotFound, 404, "correct what names it"},
		"ParameterNotFound":                                 {provider.NotFound, 400, "correct what names it"},
		"ResourceNotFoundException":                         {provider.NotFound, 404, "correct what names it"},
		"AWS.SimpleQueueService.NonExistentQueue":           {provider.NotFound, 400, "correct what names it"},
		"InvalidParameterValue":                             {provider.Invalid, 400, "EC2NodeClass"},
		"InvalidParameterCombination":                       {provider.Invalid, 400, "EC2NodeClass"},
		"SomethingThatIsNewToUs":                            {provider.Invalid, 400, "EC2NodeClass"},
		"InternalError":                                     {provider.Unavailable, 500, "tried again"},
		"ServiceUnavailable":                                {provider.Unavailable, 503, "tried again"},
		"SomethingElseThatIsNew":                            {provider.Unavailable, 502, "tried again"},
	} {
		t.Run(code, func(t *testing.T) {
			api := &smithy.GenericAPIError{Code: code, Message: "AWS says so. Encoded authorization failure message: abcdef"}
			sent := &awshttp.ResponseError{RequestID: "4711", ResponseError: &smithyhttp.ResponseError{
				Response: &smithyhttp.Response{Response: &http.Response{StatusCode: want.status}}, Err: api,
			}}
			err := client.Fault(sent, "do this with %s", "that")
			text := err.Error()
			if got := provider.KindOf(err); got != want.kind {
				t.Errorf("kind %s, want %s", got, want.kind)
			}
			for _, part := range []string{code, "do this with that", "AWS says so", want.advice} {
				if !strings.Contains(text, part) {
					t.Errorf("%q does not say %q", text, part)
				}
			}
			for _, noise := range []string{"4711", "abcdef"} {
				if strings.Contains(text, noise) {
					t.Errorf("%q changes from one try to the next, or tells nobody anything: %q", text, noise)
				}
			}
			if !errors.Is(err, api) {
				t.Error("the cause is lost")
			}
			refused(t, code, want.kind, want.advice)
		})
	}
}

// refused is the same code inside the answer of a fleet, where what passes by is
// sold out: the fleet is over.
func refused(t *testing.T, code string, kind provider.Kind, advice string) {
	t.Helper()
	err := offlineLauncher().refused("c", oneOverride(), []types.CreateFleetError{{ErrorCode: sdk.String(code), ErrorMessage: sdk.String("AWS says so.")}})
	text := err.Error()
	for _, part := range []string{code, "m7i.large", "us-west-2a", "AWS says so"} {
		if !strings.Contains(text, part) {
			t.Errorf("of a fleet: %q does not say %q", text, part)
		}
	}
	if _, listed := client.KindOfCode(code); listed && kind != provider.Throttled && kind != provider.Unavailable && !strings.Contains(text, advice) {
		t.Errorf("of a fleet: %q does not say %q", text, advice)
	}
	if code == "VcpuLimitExceeded" && !strings.Contains(text, "L-1216C47A") {
		t.Errorf("of a fleet: %q does not name the quota", text)
	}
}

// oneOverride is a request on demand for one type in one zone.
func oneOverride() *ec2.CreateFleetInput {
	return &ec2.CreateFleetInput{
		TargetCapacitySpecification: &types.TargetCapacitySpecificationRequest{DefaultTargetCapacityType: types.DefaultTargetCapacityTypeOnDemand},
		LaunchTemplateConfigs: []types.FleetLaunchTemplateConfigRequest{{
			LaunchTemplateSpecification: &types.FleetLaunchTemplateSpecificationRequest{LaunchTemplateName: sdk.String("karpenter.k8s.aws/ami-1/1")},
			Overrides:                   []types.FleetLaunchTemplateOverridesRequest{{InstanceType: "m7i.large", AvailabilityZone: sdk.String("us-west-2a")}},
		}},
	}
}

func TestVCPUQuota(t *testing.T) {
	for name, c := range map[string]struct {
		ct   model.CapacityType
		want string
	}{
		"m7i.large": {model.OnDemand, "L-1216C47A"}, "t3.nano": {model.Spot, "L-34B43A08"}, "d3.xlarge": {model.OnDemand, "L-1216C47A"},
		"dl1.24xlarge": {model.OnDemand, "L-6E869C2A"}, "g6.xlarge": {model.OnDemand, "L-DB2E81BA"}, "vt1.3xlarge": {model.Spot, "L-3819A6DF"},
		"hpc7g.16xlarge": {model.OnDemand, "L-F7808C92"}, "hpc7a.96xlarge": {model.Spot, ""}, "inf2.xlarge": {model.OnDemand, "L-1945791B"},
		"trn2.48xlarge": {model.Spot, "L-6B0D517C"}, "p5.48xlarge": {model.OnDemand, "L-417A185B"}, "x2idn.32xlarge": {model.OnDemand, "L-7295265B"},
		"u-6tb1.56xlarge": {model.OnDemand, "L-43DA4232"}, "u7i-12tb.224xlarge": {model.OnDemand, "L-43DA4232"}, "f1.2xlarge": {model.Spot, "L-88CF9481"},
		"im4gn.large": {model.OnDemand, "L-1216C47A"}, "mystery": {model.Reserved, "L-1216C47A"}, "9x.large": {model.OnDemand, ""},
	} {
		if _, got := vcpuQuota(name, c.ct); got != c.want {
			t.Errorf("%s %s: %q, want %q", name, c.ct, got, c.want)
		}
	}
}

// What EC2 did not try, since it was busy, says nothing of stock: the offering stays, and
// the claim is launched by another attempt. A fleet is over when it has answered, so that
// repeating this one brings the same answer.
func TestBusyIsNoShortage(t *testing.T) {
	option := model.Option{InstanceType: "m7i.large", Zone: "us-west-2a", CapacityType: model.OnDemand}
	for code, c := range map[string]struct {
		kind      provider.Kind
		available bool
	}{
		"RequestLimitExceeded":         {provider.Stale, true},
		"InternalError":                {provider.Stale, true},
		"ServiceUnavailable":           {provider.Stale, true},
		"InsufficientInstanceCapacity": {provider.InsufficientCapacity, false},
	} {
		l := offlineLauncher()
		err := l.refused("c", oneOverride(), []types.CreateFleetError{{ErrorCode: sdk.String(code), ErrorMessage: sdk.String("AWS says so.")}})
		if got := provider.KindOf(err); got != c.kind || !got.Definitive() {
			t.Errorf("%s: kind %s, want %s", code, got, c.kind)
		}
		if known, ok := errors.AsType[*provider.Error](err); !ok || (len(known.Offerings) == 0) != c.available {
			t.Errorf("%s: %+v; want offerings named only when they are sold out", code, err)
		}
		after := l.cfg.Shortage.Apply(l.cfg.Clock(), instancetype.Catalog(instancetype.Of(
			option.InstanceType, nil, model.Offering{Zone: option.Zone, CapacityType: option.CapacityType, Available: true},
		)), "")
		if got := after.Types[0].Offerings[0].Available; got != c.available {
			t.Errorf("%s: the offering is available: %t, want %t", code, got, c.available)
		}
	}
}
