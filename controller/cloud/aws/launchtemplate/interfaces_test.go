package launchtemplate

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/awstest"
)

// An EFA-only interface carries no IP traffic: EC2 refuses connection tracking on it.
func TestConnectionTrackingNeedsIP(t *testing.T) {
	class := awstest.Class(awsv1.AMIFamilyAL2023, "")
	class.Spec.ConnectionTracking = &awsv1.ConnectionTracking{UDPTimeout: sdk.Int32(30)}
	class.Spec.NetworkInterfaces = []awsv1.NetworkInterface{
		{InterfaceType: awsv1.InterfaceTypeInterface},
		{NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly},
	}
	got := contents("spokes", class, Boot{Image: "ami-1"}).NetworkInterfaces
	if len(got) != 2 || got[0].ConnectionTrackingSpecification == nil || got[1].ConnectionTrackingSpecification != nil {
		t.Errorf("interfaces %+v, want tracking on the first alone", got)
	}
}

// An account can turn tags in the instance metadata on for all instances. EC2 then refuses
// keys with a slash, as those of ours have.
func TestMetadataTagsAreOff(t *testing.T) {
	got := contents("spokes", awstest.Class(awsv1.AMIFamilyAL2023, ""), Boot{Image: "ami-1"}).MetadataOptions
	if got.InstanceMetadataTags != types.LaunchTemplateInstanceMetadataTagsStateDisabled {
		t.Errorf("instance metadata tags %q, want disabled", got.InstanceMetadataTags)
	}
}
