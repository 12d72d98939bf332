package catalog

import "spokeshave.dev/controller/core/model"

// Type holds the facts about an instance type, from the embedded catalogue or from
// DescribeInstanceTypes. Lower computes labels, capacity and allocatable from it.
//
// Size: one field for each fact about an instance type.
type Type struct {
	Name string
	// Arch is the Kubernetes name: amd64 or arm64.
	Arch string
	VCPU int
	// MemoryMiB is the memory that EC2 advertises, which includes the hypervisor's
	// share.
	MemoryMiB  int64
	BareMetal  bool
	Hypervisor string // nitro, xen or empty for bare metal
	// ENIs and IPv4PerENI are those of the default network card.
	ENIs       int
	IPv4PerENI int
	// NetworkMbps is the baseline and EBSMbps the maximum bandwidth, as the
	// labels mean them; 0 is unknown.
	NetworkMbps         int
	EBSMbps             int
	CPUManufacturer     string // intel, amd or aws
	ClockMHz            int
	LocalNVMeGB         int
	EncryptionInTransit bool
	EFAs                int
	PodENIs             int
	GPUs                []Device // nvidia.com/gpu, amd.com/gpu, habana.ai/gaudi: EC2 counts Gaudi among GPUs
	Accelerators        []Device // aws.amazon.com/neuron
	Can                 Abilities
}

// Device is a kind of GPU or accelerator on an instance type.
type Device struct {
	Name         string // as EC2 names it: A100, Inferentia2, …
	Manufacturer string // NVIDIA, AMD, AWS, Habana
	Count        int
	MemoryMiB    int64 // per device
}

// Sale is an instance type's prices in a region.
type Sale struct {
	Type string
	// OnDemand is the price per hour, 0 when the type is not sold on demand. Estimated says
	// that no price list has it, and that it was derived (Estimator).
	OnDemand  model.Price
	Estimated bool
	// Spot maps zones to the spot price.
	Spot map[string]model.Price
	// Zones lists every zone that offers the type.
	Zones []string
	// ZoneIDs maps zones to zone IDs (use1-az1) where they are known. Sales
	// of a region may share one map: do not change it.
	ZoneIDs map[string]string
	// Interruption is the share of spot instances interrupted per month, 0 to 1.
	Interruption float64
}
