package lower

import (
	"math"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
)

const (
	hoursPerMonth = 730
	// publicIPv4 is the price of a public IPv4 address per hour, in micro-dollars. It
	// is the same in every region.
	publicIPv4 model.Price = 5_000
	// unknownGiB is the assumed size of a volume when the node class leaves the size to
	// the image.
	unknownGiB = 20
	gibibyte   = 1 << 30
)

// volumePrice is the price of a volume in micro-dollars per month: for each GiB, and
// for IOPS and MiB/s beyond the free ones.
type volumePrice struct {
	gib, iops, throughput    int64
	freeIOPS, freeThroughput int64
}

// volumePrices returns the prices of a volume type in us-east-1.
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

// gp3List is the gp3 price to which volumePrices belong: micro-dollars per GiB and
// month in us-east-1.
const gp3List = 80_000

// gp3 returns the price of gp3 in a region, in micro-dollars per GiB and month. The
// prices of other types are assumed to differ between regions in the same proportion.
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

// NodeCost returns what every node of a class costs per hour besides its instance: its
// volumes, and the public IPv4 address that the class may ask for, at list prices. A
// volume whose size the class leaves to the image counts as 20 GiB. A nil class counts
// as one with an empty spec. listed are the region's prices by volume type; a type that
// is missing there costs what it does in us-east-1, scaled by the region's price of
// gp3. Every Catalog.NodeCost is computed here.
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
			month += monthlyCost(disks[i].EBS, region, listed)
		}
	}
	if class.Spec.AssociatePublicIPAddress != nil && *class.Spec.AssociatePublicIPAddress {
		ipv4 = publicIPv4
	}
	return model.Price(month / hoursPerMonth), ipv4
}

// maxVolumeAmount is more than a volume can have of GiB (64 TiB) or IOPS (256,000). Larger values
// are cut to it.
const maxVolumeAmount = 1 << 20

// monthlyCost returns what a volume costs in the region, in micro-dollars per month.
func monthlyCost(disk *awsv1.BlockDevice, region string, listed map[string]model.VolumePrice) float64 {
	kind, gib := "gp3", int64(unknownGiB)
	if disk.VolumeType != nil {
		kind = *disk.VolumeType
	}
	if disk.VolumeSize != nil {
		gib = int64(math.Ceil(min(max(0, disk.VolumeSize.AsApproximateFloat64()/gibibyte), maxVolumeAmount)))
	}
	p, scale := volumePrices(kind), float64(gp3(region))/gp3List
	if own, ok := listed[kind]; ok && own.GiB > 0 {
		p.gib, p.iops, p.throughput, scale = own.GiB, own.IOPS, own.Throughput, 1
	}
	month := gib*p.gib + aboveFree(disk.IOPS, p.freeIOPS)*p.iops + aboveFree(disk.Throughput, p.freeThroughput)*p.throughput
	return float64(month) * scale
}

// aboveFree returns how much of asked exceeds the free amount, 0 for nil.
func aboveFree(asked *int64, free int64) int64 {
	if asked == nil {
		return 0
	}
	return max(free, min(*asked, maxVolumeAmount)) - free
}
