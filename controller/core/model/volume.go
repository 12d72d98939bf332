package model

// VolumePrice is what a block volume of one type costs a month, in micro-dollars:
// for each GiB, and for each IOPS and MiB/s beyond those that come with it.
type VolumePrice struct {
	GiB, IOPS, Throughput int64
}
