package ec2

import (
	"slices"
	"strconv"
	"strings"

	"spokeshave.dev/controller/cloud/catalog"
)

// describeType is what DescribeInstanceTypes says of a type.
func (s *offerings) describeType(t *catalog.Type) *typeXML {
	gbps := float64(t.NetworkMbps) / 1000
	out := &typeXML{
		Name: t.Name, Current: true, InRegion: true, BareMetal: t.BareMetal, Hypervisor: t.Hypervisor,
		Usage: s.market.Uses(t.Name), RootDevices: []string{"ebs"}, Virtualization: []string{"hvm"},
		Processor: processorXML{Architectures: []string{ec2Arch(t.Arch)}, GHz: float64(t.ClockMHz) / 1000, Manufacturer: maker(t.CPUManufacturer)},
		VCPU:      vcpu(t),
		Memory:    sizeXML{t.MemoryMiB},
		EBS:       ebsXML{Optimized: "default", Crypt: "supported", NVMe: "required"},
		Network: networkXML{
			Performance: performance(gbps), Cards: len(cardENIs(t)), IPv4: t.IPv4PerENI, IPv6: t.IPv4PerENI, IPv6OK: true, ENA: "unsupported",
			Encrypted: t.EncryptionInTransit, EFAOK: t.EFAs > 0,
		},
		Placement: placementKindXML{strategies(t)},
		Burstable: strings.HasPrefix(t.Name, "t"), BootModes: []string{"uefi"}, Enclaves: "unsupported", TPM: "unsupported",
	}
	out.addCards(t, gbps)
	if t.Can.NestedVirtualization {
		out.Processor.Features = []string{"nested-virtualization"}
	}
	if enclaves(t) {
		out.Enclaves = "supported"
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
	out.addDevices(t)
	return out
}

// addCards shares the bandwidth among the network cards.
func (out *typeXML) addCards(t *catalog.Type, gbps float64) {
	cards := cardENIs(t)
	if hasENA(t) {
		out.Network.ENA = "required"
	}
	each := gbps / float64(len(cards))
	for at, n := range cards {
		out.Network.Interfaces += n
		out.Network.Card = append(out.Network.Card, networkCardXML{Index: at, Performance: performance(each), Interfaces: n, Baseline: each, Peak: each})
	}
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
