package scenario

import (
	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/model"
)

// extras price what a node costs besides its instance: its gp3 volumes and a
// public IPv4 address, both list prices.
// https://aws.amazon.com/ebs/pricing/ https://aws.amazon.com/vpc/pricing/
type extras struct {
	s       *model.Snapshot
	classes map[string]*awsv1.EC2NodeClass
}

func newExtras(o *Objects, s *model.Snapshot) *extras {
	e := &extras{s: s, classes: map[string]*awsv1.EC2NodeClass{}}
	for _, c := range o.NodeClasses {
		e.classes[c.Name] = c
	}
	return e
}

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

// of is the hourly price of the volumes and of the address of a pool's node.
// Volumes of other types than gp3 are left out.
func (e *extras) of(pool *model.Pool) (ebs, ipv4 model.Price) {
	region := ""
	if pool.Catalog >= 0 {
		region = e.s.Catalogs[pool.Catalog].Region
	}
	gib := int64(0)
	class := e.classes[pool.NodeClass]
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
