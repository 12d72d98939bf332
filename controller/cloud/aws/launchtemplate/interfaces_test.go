package launchtemplate

import (
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/cloud/aws/awstest"
	"spokeshave.dev/controller/cloud/aws/client"
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

// Golden templates of what a launch adds to its class: adapters on each network card,
// addresses of IPv6 clusters, hardware of its own, a partition, enclaves.
func TestLaunchData(t *testing.T) {
	group := func(c *awsv1.EC2NodeClass) {
		c.Spec.PlacementGroupSelector = &awsv1.PlacementGroupSelector{Name: sdk.String("close")}
	}
	for name, c := range map[string]struct {
		boot   Boot
		change func(*awsv1.EC2NodeClass)
	}{
		"efa":       {boot: Boot{EFAs: 3}},
		"efa-ipv6":  {boot: Boot{EFAs: 2, IPv6: true}, change: func(c *awsv1.EC2NodeClass) { c.Spec.IPPrefixCount = sdk.Int32(4) }},
		"ipv6":      {boot: Boot{IPv6: true}},
		"partition": {boot: Boot{Partition: 2}, change: group},
		"dedicated": {boot: Boot{Tenancy: "dedicated", Enclaves: true}},
		"public-ip-beside-efa": {change: func(c *awsv1.EC2NodeClass) {
			c.Spec.AssociatePublicIPAddress = sdk.Bool(true)
			c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}, {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			class := awstest.Class(awsv1.AMIFamilyAL2023, "")
			class.Spec.Tags = nil
			if c.change != nil {
				c.change(class)
			}
			c.boot.Image = "ami-1"
			all := contents("spokes", class, c.boot)
			raw, err := client.Encode(&types.RequestLaunchTemplateData{
				NetworkInterfaces: all.NetworkInterfaces, SecurityGroupIds: all.SecurityGroupIds, Placement: all.Placement, EnclaveOptions: all.EnclaveOptions,
			})
			if err != nil {
				t.Fatal(err)
			}
			awstest.Golden(t, "launch-"+name+".json", awstest.Indented(t, raw))
		})
	}
}
