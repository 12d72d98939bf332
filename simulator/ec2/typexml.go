package ec2

// typeXML is an instance type as DescribeInstanceTypes answers it.
//
// Size: one field for each element of EC2's answer.
type typeXML struct {
	Name           string           `xml:"instanceType"`
	Current        bool             `xml:"currentGeneration"`
	InRegion       bool             `xml:"supportedInRegion"`
	FreeTier       bool             `xml:"freeTierEligible"`
	Usage          []string         `xml:"supportedUsageClasses>item"`
	RootDevices    []string         `xml:"supportedRootDeviceTypes>item"`
	Virtualization []string         `xml:"supportedVirtualizationTypes>item"`
	BareMetal      bool             `xml:"bareMetal"`
	Hypervisor     string           `xml:"hypervisor,omitempty"`
	Processor      processorXML     `xml:"processorInfo"`
	VCPU           vcpuXML          `xml:"vCpuInfo"`
	Memory         sizeXML          `xml:"memoryInfo"`
	HasStorage     bool             `xml:"instanceStorageSupported"`
	Storage        *storageXML      `xml:"instanceStorageInfo"`
	EBS            ebsXML           `xml:"ebsInfo"`
	Network        networkXML       `xml:"networkInfo"`
	GPU            *gpuXML          `xml:"gpuInfo"`
	Inference      *inferenceXML    `xml:"inferenceAcceleratorInfo"`
	Neuron         *neuronXML       `xml:"neuronInfo"`
	Placement      placementKindXML `xml:"placementGroupInfo"`
	Hibernation    bool             `xml:"hibernationSupported"`
	Burstable      bool             `xml:"burstablePerformanceSupported"`
	Dedicated      bool             `xml:"dedicatedHostsSupported"`
	AutoRecovery   bool             `xml:"autoRecoverySupported"`
	BootModes      []string         `xml:"supportedBootModes>item"`
	Enclaves       string           `xml:"nitroEnclavesSupport"`
	TPM            string           `xml:"nitroTpmSupport"`
}

type processorXML struct {
	Architectures []string `xml:"supportedArchitectures>item"`
	GHz           float64  `xml:"sustainedClockSpeedInGhz,omitempty"`
	Manufacturer  string   `xml:"manufacturer,omitempty"`
	Features      []string `xml:"supportedFeatures>item,omitempty"`
}

type vcpuXML struct {
	VCPUs   int `xml:"defaultVCpus"`
	Cores   int `xml:"defaultCores"`
	Threads int `xml:"defaultThreadsPerCore"`
}

type sizeXML struct {
	MiB int64 `xml:"sizeInMiB"`
}

type storageXML struct {
	GB    int    `xml:"totalSizeInGB"`
	Disks []disk `xml:"disks>item"`
	NVMe  string `xml:"nvmeSupport"`
	Crypt string `xml:"encryptionSupport"`
}

type disk struct {
	GB    int    `xml:"sizeInGB"`
	Count int    `xml:"count"`
	Type  string `xml:"type"`
}

type ebsXML struct {
	Optimized string        `xml:"ebsOptimizedSupport"`
	Crypt     string        `xml:"encryptionSupport"`
	NVMe      string        `xml:"nvmeSupport"`
	Info      *ebsBandwidth `xml:"ebsOptimizedInfo"`
}

type ebsBandwidth struct {
	Baseline int `xml:"baselineBandwidthInMbps"`
	Maximum  int `xml:"maximumBandwidthInMbps"`
}

type networkXML struct {
	Performance string           `xml:"networkPerformance"`
	Interfaces  int              `xml:"maximumNetworkInterfaces"`
	Cards       int              `xml:"maximumNetworkCards"`
	DefaultCard int              `xml:"defaultNetworkCardIndex"`
	Card        []networkCardXML `xml:"networkCards>item"`
	IPv4        int              `xml:"ipv4AddressesPerInterface"`
	IPv6        int              `xml:"ipv6AddressesPerInterface"`
	IPv6OK      bool             `xml:"ipv6Supported"`
	ENA         string           `xml:"enaSupport"`
	EFAOK       bool             `xml:"efaSupported"`
	EFA         *efaXML          `xml:"efaInfo"`
	Encrypted   bool             `xml:"encryptionInTransitSupported"`
}

type networkCardXML struct {
	Index       int     `xml:"networkCardIndex"`
	Performance string  `xml:"networkPerformance"`
	Interfaces  int     `xml:"maximumNetworkInterfaces"`
	Baseline    float64 `xml:"baselineBandwidthInGbps,omitempty"`
	Peak        float64 `xml:"peakBandwidthInGbps,omitempty"`
}

type efaXML struct {
	Interfaces int `xml:"maximumEfaInterfaces"`
}

type gpuXML struct {
	GPUs  []deviceXML `xml:"gpus>item"`
	Total int64       `xml:"totalGpuMemoryInMiB"`
}

type deviceXML struct {
	Name         string      `xml:"name"`
	Manufacturer string      `xml:"manufacturer,omitempty"`
	Count        int         `xml:"count"`
	Memory       *sizeXML    `xml:"memoryInfo"`
	Cores        *neuronCore `xml:"coreInfo"`
}

type neuronCore struct {
	Count   int `xml:"count"`
	Version int `xml:"version"`
}

type inferenceXML struct {
	Accelerators []deviceXML `xml:"accelerators>item"`
}

type neuronXML struct {
	Devices []deviceXML `xml:"neuronDevices>item"`
	Total   int64       `xml:"totalNeuronDeviceMemoryInMiB"`
}

type placementKindXML struct {
	Strategies []string `xml:"supportedStrategies>item"`
}
