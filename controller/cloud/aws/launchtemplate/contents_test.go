package launchtemplate

import (
	"slices"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/awstest"
	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/core/model"
)

func TestTemplateData(t *testing.T) {
	class := awstest.Class(awsv1.AMIFamilyAL2023, "")
	plain, err := client.Encode(contents("spokes", class, Boot{Image: "ami-1", UserData: "data"}))
	if err != nil {
		t.Fatal(err)
	}
	awstest.Golden(t, "template.json", awstest.Indented(t, plain))

	class.Spec.AssociatePublicIPAddress = sdk.Bool(false)
	class.Spec.ConnectionTracking = &awsv1.ConnectionTracking{UDPTimeout: sdk.Int32(30)}
	class.Spec.IPPrefixCount = sdk.Int32(2)
	class.Spec.DetailedMonitoring = sdk.Bool(true)
	class.Spec.AMIFamily = sdk.String(awsv1.AMIFamilyBottlerocket)
	full, err := client.Encode(contents("spokes", class, Boot{Image: "ami-1"}))
	if err != nil {
		t.Fatal(err)
	}
	awstest.Golden(t, "template-interfaces.json", awstest.Indented(t, full))
}

// What is billed as on demand takes no place in an open reservation of somebody else's,
// whether the class selects reservations or not.
func TestOnDemandUsesNoReservation(t *testing.T) {
	class := awstest.Class(awsv1.AMIFamilyAL2023, "")
	for _, terms := range [][]awsv1.CapacityReservationSelectorTerm{nil, {{ID: "cr-1"}}} {
		class.Spec.CapacityReservationSelectorTerms = terms
		got := contents("spokes", class, Boot{Image: "ami-1", Bought: model.OnDemand}).CapacityReservationSpecification
		if got == nil || got.CapacityReservationPreference != types.CapacityReservationPreferenceNone {
			t.Errorf("class selects %v: capacity reservations %+v, want preference none", terms, got)
		}
	}
}

// Requests for spot instances carry the cluster's tags, which IAM policies ask for; other
// instances have no such request.
func TestSpotRequestsAreTagged(t *testing.T) {
	class := awstest.Class(awsv1.AMIFamilyAL2023, "")
	for bought, want := range map[model.CapacityType]bool{model.Spot: true, model.OnDemand: false, model.Reserved: false} {
		tagged := false
		for _, spec := range contents("spokes", class, Boot{Image: "ami-1", Bought: bought}).TagSpecifications {
			if spec.ResourceType == types.ResourceTypeSpotInstancesRequest {
				tagged = slices.ContainsFunc(spec.Tags, func(t types.Tag) bool { return sdk.ToString(t.Key) == awsv1.TagClusterPrefix+"spokes" })
			}
		}
		if tagged != want {
			t.Errorf("%s: spot requests have the cluster's tag: %t, want %t", bought, tagged, want)
		}
	}
}
