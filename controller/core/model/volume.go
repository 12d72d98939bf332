package model

// VolumePrice is the monthly price of a block volume of one type, in micro-dollars:
// per GiB, and per IOPS and MiB/s beyond those included.
type VolumePrice struct {
	GiB, IOPS, Throughput int64
}
