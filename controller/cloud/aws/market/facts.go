package market

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"spokeshave.dev/controller/cloud/aws/client"
	"spokeshave.dev/controller/cloud/catalog"
)

// fact is an instance type with the ways in which it is sold.
type fact struct {
	catalog.Type
	onDemand bool
	spot     bool
}

// describeTypes asks EC2 for every type that Linux nodes can run on.
func (m *Market) describeTypes(ctx context.Context) ([]fact, error) {
	var out []fact
	pages := ec2.NewDescribeInstanceTypesPaginator(m.EC2, &ec2.DescribeInstanceTypesInput{
		Filters: []types.Filter{
			client.Filter("supported-virtualization-type", "hvm"),
			client.Filter("processor-info.supported-architecture", "x86_64", "arm64"),
		},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, client.Fault(err, "describe instance types")
		}
		for i := range page.InstanceTypes {
			if f, ok := factOf(&page.InstanceTypes[i]); ok {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

// describeZones asks EC2 which zones offer each type.
func (m *Market) describeZones(ctx context.Context) (map[string][]string, error) {
	out := map[string][]string{}
	pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(m.EC2, &ec2.DescribeInstanceTypeOfferingsInput{
		LocationType: types.LocationTypeAvailabilityZone,
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, client.Fault(err, "describe instance type offerings")
		}
		for _, o := range page.InstanceTypeOfferings {
			out[string(o.InstanceType)] = append(out[string(o.InstanceType)], sdk.ToString(o.Location))
		}
	}
	for name := range out {
		slices.Sort(out[name])
	}
	return out, nil
}

// factOf translates one type; false for those that no node can be (mac, and
// types without the figures a node needs).
func factOf(info *types.InstanceTypeInfo) (fact, bool) {
	arch := archOf(info)
	if arch == "" || info.VCpuInfo == nil || info.MemoryInfo == nil {
		return fact{}, false
	}
	f := fact{Type: catalog.Type{
		Name:       string(info.InstanceType),
		Arch:       arch,
		VCPU:       int(sdk.ToInt32(info.VCpuInfo.DefaultVCpus)),
		MemoryMiB:  sdk.ToInt64(info.MemoryInfo.SizeInMiB),
		BareMetal:  sdk.ToBool(info.BareMetal),
		Hypervisor: string(info.Hypervisor),
	}}
	f.onDemand = slices.Contains(info.SupportedUsageClasses, types.UsageClassTypeOnDemand)
	f.spot = slices.Contains(info.SupportedUsageClasses, types.UsageClassTypeSpot)
	if cpu := info.ProcessorInfo; cpu != nil {
		f.CPUManufacturer = strings.ToLower(sdk.ToString(cpu.Manufacturer))
		f.ClockMHz = int(sdk.ToFloat64(cpu.SustainedClockSpeedInGhz)*1000 + 0.5)
	}
	if ebs := info.EbsInfo; ebs != nil && ebs.EbsOptimizedInfo != nil {
		f.EBSMbps = int(sdk.ToInt32(ebs.EbsOptimizedInfo.MaximumBandwidthInMbps))
	}
	if store := info.InstanceStorageInfo; store != nil && store.NvmeSupport != types.EphemeralNvmeSupportUnsupported {
		f.LocalNVMeGB = int(sdk.ToInt64(store.TotalSizeInGB))
	}
	addNetwork(&f.Type, info.NetworkInfo)
	addDevices(&f.Type, info)
	addAbilities(&f.Type, info)
	f.PodENIs = catalog.BranchENIs(f.Name)
	return f, true
}

func archOf(info *types.InstanceTypeInfo) string {
	if info.ProcessorInfo == nil {
		return ""
	}
	for _, a := range info.ProcessorInfo.SupportedArchitectures {
		switch a { //nolint:exhaustive // nodes run on these two only
		case types.ArchitectureTypeX8664:
			return "amd64"
		case types.ArchitectureTypeArm64:
			return "arm64"
		}
	}
	return ""
}

func addNetwork(t *catalog.Type, network *types.NetworkInfo) {
	if network == nil {
		return
	}
	t.EncryptionInTransit = sdk.ToBool(network.EncryptionInTransitSupported)
	t.IPv4PerENI = int(sdk.ToInt32(network.Ipv4AddressesPerInterface))
	t.ENIs = int(sdk.ToInt32(network.MaximumNetworkInterfaces))
	if network.EfaInfo != nil {
		t.EFAs = int(sdk.ToInt32(network.EfaInfo.MaximumEfaInterfaces))
	}
	var gbps float64
	for i := range network.NetworkCards {
		card := &network.NetworkCards[i]
		gbps += sdk.ToFloat64(card.BaselineBandwidthInGbps)
		for at := int(sdk.ToInt32(card.NetworkCardIndex)); at >= len(t.Can.CardENIs); {
			t.Can.CardENIs = append(t.Can.CardENIs, 0)
		}
		t.Can.CardENIs[sdk.ToInt32(card.NetworkCardIndex)] = int(sdk.ToInt32(card.MaximumNetworkInterfaces))
		if sdk.ToInt32(card.NetworkCardIndex) == sdk.ToInt32(network.DefaultNetworkCardIndex) {
			t.ENIs = int(sdk.ToInt32(card.MaximumNetworkInterfaces))
		}
	}
	t.NetworkMbps = int(gbps*1000 + 0.5)
}

func addAbilities(t *catalog.Type, info *types.InstanceTypeInfo) {
	if info.NetworkInfo != nil {
		t.Can.ENA = info.NetworkInfo.EnaSupport != types.EnaSupportUnsupported
	}
	if info.ProcessorInfo != nil {
		t.Can.NestedVirtualization = slices.Contains(info.ProcessorInfo.SupportedFeatures, types.SupportedAdditionalProcessorFeatureNestedVirtualization)
	}
	if info.PlacementGroupInfo != nil {
		for _, s := range info.PlacementGroupInfo.SupportedStrategies {
			t.Can.Strategies = append(t.Can.Strategies, string(s))
		}
	}
}

func addDevices(t *catalog.Type, info *types.InstanceTypeInfo) {
	if info.GpuInfo != nil {
		for i := range info.GpuInfo.Gpus {
			g := &info.GpuInfo.Gpus[i]
			d := catalog.Device{Name: sdk.ToString(g.Name), Manufacturer: sdk.ToString(g.Manufacturer), Count: int(sdk.ToInt32(g.Count))}
			if g.MemoryInfo != nil {
				d.MemoryMiB = int64(sdk.ToInt32(g.MemoryInfo.SizeInMiB))
			}
			t.GPUs = append(t.GPUs, d)
		}
	}
	switch {
	case info.NeuronInfo != nil && len(info.NeuronInfo.NeuronDevices) > 0:
		for i := range info.NeuronInfo.NeuronDevices {
			n := &info.NeuronInfo.NeuronDevices[i]
			d := catalog.Device{Name: sdk.ToString(n.Name), Manufacturer: "AWS", Count: int(sdk.ToInt32(n.Count))}
			if n.MemoryInfo != nil {
				d.MemoryMiB = int64(sdk.ToInt32(n.MemoryInfo.SizeInMiB))
			}
			t.Accelerators = append(t.Accelerators, d)
		}
	case info.InferenceAcceleratorInfo != nil: // inf1 before NeuronInfo existed
		for i := range info.InferenceAcceleratorInfo.Accelerators {
			a := &info.InferenceAcceleratorInfo.Accelerators[i]
			t.Accelerators = append(t.Accelerators, catalog.Device{
				Name: sdk.ToString(a.Name), Manufacturer: sdk.ToString(a.Manufacturer), Count: int(sdk.ToInt32(a.Count)),
			})
		}
	}
}
