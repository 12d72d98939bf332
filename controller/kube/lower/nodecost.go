package lower

import (
	"math"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
)

const (
	hoursPerMonth = 730
	// publicIPv4 is the price of a public IPv4 address in every region.
	publicIPv4 model.Price = 5_000
	// unknownGiB is the size of a volume whose class leaves it to the image.
	unknownGiB = 20
	gibibyte   = 1 << 30
)

// volumePrice is what a volume of a type costs in the region of the list, in
// micro-dollars a month: for each GiB, and for IOPS and MiB/s beyond those that
// come with it.
type volumePrice struct {
	gib, iops, throughput    int64
	freeIOPS, freeThroughput int64
}

// volumePrices are those of us-east-1.
// https://aws.amazon.com/ebs/pricing/
func volumePrices(kind string) volumePrice {
	switch kind {
	case "gp2":
		return volumePrice{gib: 100_000}
	case "io1", "io2":
		return volumePrice{gib: 125_000, iops: 65_000}
	case "st1":
		return volumePrice{gib: 45_000}
	case "sc1":
		return volumePrice{gib: 15_000}
	case "standard":
		return volumePrice{gib: 50_000}
	default:
		return volumePrice{gib: gp3List, iops: 5_000, throughput: 40_000, freeIOPS: 3000, freeThroughput: 125}
	}
}

// gp3List is what volumePrices are a multiple of.
const gp3List = 80_000

// gp3 is the price of a GiB and month of gp3 in micro-dollars, which the other
// types follow from region to region.
func gp3(region string) int64 {
	switch region {
	case "eu-west-1":
		return 88_000
	case "eu-central-1":
		return 95_200
	case "ap-southeast-1":
		return 96_000
	default:
		return gp3List
	}
}

// NodeCost is what every node of a class costs per hour besides its instance:
// its volumes and a public IPv4 address that it asks for, at list prices. A
// volume whose size the class leaves to the image counts as 20 GiB; nil is a
// class that says nothing. listed are the region's prices of volumes by type; what
// they do not say costs what it does in us-east-1, scaled by what gp3 costs in the
// region. It is the one source of Catalog.NodeCost.
// https://aws.amazon.com/ebs/pricing/ https://aws.amazon.com/vpc/pricing/
func NodeCost(class *awsv1.EC2NodeClass, region string, listed map[string]model.VolumePrice) (ebs, ipv4 model.Price) {
	if class == nil {
		class = &awsv1.EC2NodeClass{}
	}
	disks := class.Disks()
	if len(disks) == 0 {
		disks = []awsv1.BlockDeviceMapping{{EBS: &awsv1.BlockDevice{}}}
	}
	month := 0.0
	for i := range disks {
		if disks[i].EBS != nil {
			month += perMonth(disks[i].EBS, region, listed)
		}
	}
	if class.Spec.AssociatePublicIPAddress != nil && *class.Spec.AssociatePublicIPAddress {
		ipv4 = publicIPv4
	}
	return model.Price(month / hoursPerMonth), ipv4
}

// most is beyond what a volume can have of anything: 64 TiB, 256,000 IOPS.
const most = 1 << 20

// perMonth is what a volume costs in the region, in micro-dollars.
func perMonth(disk *awsv1.BlockDevice, region string, listed map[string]model.VolumePrice) float64 {
	kind, gib := "gp3", int64(unknownGiB)
	if disk.VolumeType != nil {
		kind = *disk.VolumeType
	}
	if disk.VolumeSize != nil {
		gib = int64(math.Ceil(min(max(0, disk.VolumeSize.AsApproximateFloat64()/gibibyte), most)))
	}
	p, scale := volumePrices(kind), float64(gp3(region))/gp3List
	if own, ok := listed[kind]; ok && own.GiB > 0 {
		p.gib, p.iops, p.throughput, scale = own.GiB, own.IOPS, own.Throughput, 1
	}
	month := gib*p.gib + beyond(disk.IOPS, p.freeIOPS)*p.iops + beyond(disk.Throughput, p.freeThroughput)*p.throughput
	return float64(month) * scale
}

// beyond is what is asked for on top of what comes with the volume.
func beyond(asked *int64, free int64) int64 {
	if asked == nil {
		return 0
	}
	return max(free, min(*asked, most)) - free
}
