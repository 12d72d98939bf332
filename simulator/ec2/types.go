package sim

import (
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/cloud/catalog"
)

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

type describeTypes struct {
	paged
	Filters     []filter `query:"Filter"`
	Types       []string `query:"InstanceType"`
	Unsupported bool     `query:"IncludeUnsupportedInRegion"`
}

// answerTypes lists instance types, in pages of 100 unless told otherwise.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html
func answerTypes(s *Server, _ *call, in *describeTypes) (any, error) {
	names := s.state.names
	if len(in.Types) > 0 {
		if len(in.Types) > 100 {
			return nil, failf(codeInvalidValue, "At most 100 instance types can be named, not %d", len(in.Types))
		}
		if in.MaxResults != nil {
			return nil, failf(codeCombination, "The parameter instanceTypes cannot be used with the parameter maxResults")
		}
		var unknown []string
		for _, name := range in.Types {
			if s.state.types[name] == nil {
				unknown = append(unknown, name)
			}
		}
		if len(unknown) > 0 {
			return nil, failf("InvalidInstanceType", "The following supplied instance types do not exist: [%s]", strings.Join(unknown, ", "))
		}
		names = slices.Clone(in.Types)
		slices.Sort(names)
	}
	all := make([]*typeXML, 0, len(names))
	for _, name := range names {
		all = append(all, s.describeType(s.state.types[name]))
	}
	found, err := choose(all, in.Filters, tagged[*typeXML]{fields: typeFields()})
	if err != nil {
		return nil, err
	}
	pages := in.paged
	if pages.MaxResults == nil {
		hundred := 100
		pages.MaxResults = &hundred
	}
	items, next, err := page(found, pages, 5, 100)
	return struct {
		Types     []*typeXML `xml:"instanceTypeSet>item"`
		NextToken string     `xml:"nextToken,omitempty"`
	}{items, next}, err
}

func typeFields() fields[*typeXML] {
	yes := strconv.FormatBool
	return fields[*typeXML]{
		"bare-metal":                            is(func(t *typeXML) string { return yes(t.BareMetal) }),
		"burstable-performance-supported":       is(func(t *typeXML) string { return yes(t.Burstable) }),
		"current-generation":                    is(func(t *typeXML) string { return yes(t.Current) }),
		"hypervisor":                            is(func(t *typeXML) string { return t.Hypervisor }),
		"instance-storage-supported":            is(func(t *typeXML) string { return yes(t.HasStorage) }),
		"instance-type":                         is(func(t *typeXML) string { return t.Name }),
		"memory-info.size-in-mib":               is(func(t *typeXML) string { return strconv.FormatInt(t.Memory.MiB, 10) }),
		"network-info.efa-supported":            is(func(t *typeXML) string { return yes(t.Network.EFAOK) }),
		"processor-info.supported-architecture": func(t *typeXML) []string { return t.Processor.Architectures },
		"supported-root-device-type":            func(t *typeXML) []string { return t.RootDevices },
		"supported-usage-class":                 func(t *typeXML) []string { return t.Usage },
		"supported-virtualization-type":         func(t *typeXML) []string { return t.Virtualization },
		"vcpu-info.default-vcpus":               is(func(t *typeXML) string { return strconv.Itoa(t.VCPU.VCPUs) }),
	}
}

func (s *Server) describeType(t *catalog.Type) *typeXML {
	gbps := float64(t.NetworkMbps) / 1000
	out := &typeXML{
		Name: t.Name, Current: true, InRegion: true, BareMetal: t.BareMetal, Hypervisor: t.Hypervisor,
		RootDevices: []string{"ebs"}, Virtualization: []string{"hvm"},
		Processor: processorXML{Architectures: []string{ec2Arch(t.Arch)}, GHz: float64(t.ClockMHz) / 1000, Manufacturer: maker(t.CPUManufacturer)},
		VCPU:      vcpu(t),
		Memory:    sizeXML{t.MemoryMiB},
		EBS:       ebsXML{Optimized: "default", Crypt: "supported", NVMe: "required"},
		Network: networkXML{
			Performance: performance(gbps), Interfaces: t.ENIs, Cards: 1, IPv4: t.IPv4PerENI, IPv6: t.IPv4PerENI, IPv6OK: true, ENA: "required",
			Card:      []networkCardXML{{Performance: performance(gbps), Interfaces: t.ENIs, Baseline: gbps, Peak: gbps}},
			Encrypted: t.EncryptionInTransit, EFAOK: t.EFAs > 0,
		},
		Placement: placementKindXML{[]string{"partition", "spread"}},
		Burstable: strings.HasPrefix(t.Name, "t"), BootModes: []string{"uefi"}, Enclaves: "unsupported", TPM: "unsupported",
	}
	if t.EBSMbps > 0 {
		out.EBS.Info = &ebsBandwidth{t.EBSMbps, t.EBSMbps}
	}
	if t.EFAs > 0 {
		out.Network.EFA = &efaXML{t.EFAs}
	}
	if t.LocalNVMeGB > 0 {
		out.HasStorage = true
		out.Storage = &storageXML{GB: t.LocalNVMeGB, Disks: []disk{{t.LocalNVMeGB, 1, "ssd"}}, NVMe: "required", Crypt: "required"}
	}
	if sale := s.state.sales[t.Name]; sale != nil {
		if sale.onDemand > 0 {
			out.Usage = append(out.Usage, "on-demand")
		}
		if len(sale.spot) > 0 {
			out.Usage = append(out.Usage, "spot")
		}
	}
	out.addDevices(t)
	return out
}

// addDevices puts GPUs and accelerators where EC2 has them: those of AWS are
// Neuron devices, those of Habana count as GPUs.
func (out *typeXML) addDevices(t *catalog.Type) {
	for _, d := range slices.Concat(t.GPUs, t.Accelerators) {
		x := deviceXML{Name: d.Name, Manufacturer: d.Manufacturer, Count: d.Count, Memory: &sizeXML{d.MemoryMiB}}
		total := d.MemoryMiB * int64(d.Count)
		if !strings.EqualFold(d.Manufacturer, "AWS") {
			if out.GPU == nil {
				out.GPU = &gpuXML{}
			}
			out.GPU.GPUs = append(out.GPU.GPUs, x)
			out.GPU.Total += total
			continue
		}
		if strings.HasPrefix(d.Name, "Inferentia") {
			out.Inference = &inferenceXML{append(out.accelerators(), x)}
		}
		x.Manufacturer = ""
		x.Cores = &neuronCore{neuronCores(d.Name), 2}
		if out.Neuron == nil {
			out.Neuron = &neuronXML{}
		}
		out.Neuron.Devices = append(out.Neuron.Devices, x)
		out.Neuron.Total += total
	}
}

func (out *typeXML) accelerators() []deviceXML {
	if out.Inference == nil {
		return nil
	}
	return out.Inference.Accelerators
}

// neuronCores is the number of cores on a chip.
// https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/
func neuronCores(chip string) int {
	switch chip {
	case "Inferentia":
		return 4
	case "Trainium2":
		return 8
	default:
		return 2
	}
}

func vcpu(t *catalog.Type) vcpuXML {
	threads := 1
	if t.Arch == "amd64" && t.VCPU%2 == 0 {
		threads = 2
	}
	return vcpuXML{t.VCPU, t.VCPU / threads, threads}
}

func ec2Arch(arch string) string {
	if arch == "amd64" {
		return "x86_64"
	}
	return arch
}

func maker(name string) string {
	switch name {
	case "intel":
		return "Intel"
	case "amd":
		return "AMD"
	case "aws":
		return "AWS"
	default:
		return name
	}
}

func performance(gbps float64) string {
	if gbps == 0 {
		return "Moderate"
	}
	return strconv.FormatFloat(gbps, 'f', -1, 64) + " Gigabit"
}

func coresOf(t *catalog.Type) *cpuOptions {
	v := vcpu(t)
	return &cpuOptions{CoreCount: &v.Cores, ThreadsPerCore: &v.Threads}
}
