package lower

import (
	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/model"
)

const (
	hoursPerMonth = 730
	// publicIPv4 is the price of a public IPv4 address in every region.
	publicIPv4 model.Price = 5_000
	// rootGiB is the root volume of a class that does not say.
	rootGiB = 20
)

// gp3 is the price of a GiB and month of gp3 in micro-dollars.
func gp3(region string) int64 {
	switch region {
	case "eu-west-1":
		return 88_000
	case "eu-central-1":
		return 95_200
	case "ap-southeast-1":
		return 96_000
	default:
		return 80_000
	}
}

// NodeCost is what every node of a class costs per hour besides its instance:
// its gp3 volumes and a public IPv4 address, both list prices. Volumes of other
// types are left out; nil is a class that says nothing.
// https://aws.amazon.com/ebs/pricing/ https://aws.amazon.com/vpc/pricing/
func NodeCost(class *awsv1.EC2NodeClass, region string) (ebs, ipv4 model.Price) {
	gib := int64(0)
	if class == nil || len(class.Spec.BlockDeviceMappings) == 0 {
		gib = rootGiB
	} else {
		for i := range class.Spec.BlockDeviceMappings {
			disk := class.Spec.BlockDeviceMappings[i].EBS
			if disk != nil && disk.VolumeSize != nil && (disk.VolumeType == nil || *disk.VolumeType == "gp3") {
				gib += disk.VolumeSize.Value() >> 30
			}
		}
	}
	if class != nil && class.Spec.AssociatePublicIPAddress != nil && *class.Spec.AssociatePublicIPAddress {
		ipv4 = publicIPv4
	}
	return model.Price(gib * gp3(region) / hoursPerMonth), ipv4
}
