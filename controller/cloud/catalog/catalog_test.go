package catalog

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/core/model"
)

func load(t *testing.T, region string) model.Catalog {
	t.Helper()
	types, sales, err := Load(region)
	if err != nil {
		t.Fatal(err)
	}
	return Lower(types, sales, Options{NodeClass: "default", Region: region})
}

func find(t *testing.T, c *model.Catalog, name string) *model.InstanceType {
	t.Helper()
	for i := range c.Types {
		if c.Types[i].Name == name {
			return &c.Types[i]
		}
	}
	t.Fatalf("%s is not in the catalogue of %s", name, c.Region)
	return nil
}

func TestRegions(t *testing.T) {
	want := []string{
		"af-south-1", "ap-east-1", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-south-2", "ap-southeast-1",
		"ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5", "ap-southeast-7", "ca-central-1", "ca-west-1", "cn-north-1",
		"eu-central-1", "eu-central-2", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1", "eu-west-2", "eu-west-3", "il-central-1",
		"me-central-1", "me-south-1", "mx-central-1", "sa-east-1", "us-east-1", "us-east-2", "us-gov-east-1", "us-gov-west-1", "us-west-1", "us-west-2",
	}
	if diff := cmp.Diff(want, Regions()); diff != "" {
		t.Error(diff)
	}
	if _, _, err := Load("mars-north-1"); err == nil {
		t.Error("an unknown region loads")
	}
}

// TestAllocatable compares with figures that AWS and Karpenter publish for EKS nodes.
func TestAllocatable(t *testing.T) {
	c := load(t, "us-east-1")
	cases := map[string]struct {
		reason string
		cpu    int64
		memory int64 // MiB
		pods   int64
	}{
		"m5.large":       {"two vCPUs: 60m and 10m reserved", 1930, 6903, 29},
		"c7a.xlarge":     {"four vCPUs", 3920, 6584, 58},
		"c7g.xlarge":     {"Graviton keeps 64 MiB more", 3920, 6525, 58},
		"c7a.medium":     {"one vCPU", 940, 1451, 8},
		"c7a.48xlarge":   {"the 0.25 % band", 191450, 355262, 737},
		"p4d.24xlarge":   {"pods by the first of four network cards", 95690, 1082712, 737},
		"m5.24xlarge":    {"fifteen interfaces", 95690, 355262, 737},
		"inf2.48xlarge":  {"accelerators do not change pods", 191450, 718987, 737},
		"trn1.32xlarge":  {"five interfaces on the first card", 127610, 481894, 247},
		"t3.medium":      {"three interfaces of six addresses", 1930, 3246, 17},
		"t3.nano":        {"half a GiB", 1930, 74, 4},
		"g5.xlarge":      {"four interfaces", 3920, 14162, 58},
		"m7i-flex.large": {"flex", 1930, 6903, 29},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a := find(t, &c, name).Allocatable
			got := []int64{a[model.CPU], a[model.Memory] / mib, a[model.PodSlots], a[model.EphemeralStorage] / gib}
			if diff := cmp.Diff([]int64{tc.cpu, tc.memory, tc.pods, 17}, got); diff != "" {
				t.Errorf("%s: cpu, memory, pods, storage (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestLabels(t *testing.T) {
	c := load(t, "us-east-1")
	common := map[string]string{
		LabelOS: "linux", LabelRegion: "us-east-1",
		awsPrefix + "tenancy": "default", awsPrefix + "capability-flex": "false", awsv1.LabelNitroSandbox: "false",
	}
	cases := map[string]struct {
		reason string
		want   map[string]string
	}{
		"m5.large": {"a plain type", map[string]string{
			LabelArch: "amd64", awsPrefix + "category": "m", awsPrefix + "family": "m5", awsPrefix + "generation": "5",
			awsPrefix + "size": "large", awsPrefix + "cpu": "2", awsPrefix + "memory": "8192", awsPrefix + "hypervisor": "nitro",
			awsPrefix + "cpu-manufacturer": "intel", awsPrefix + "cpu-sustained-clock-speed-mhz": "3100",
			awsPrefix + "ebs-bandwidth": "4750", awsPrefix + "network-bandwidth": "625",
			awsPrefix + "encryption-in-transit-supported": "false",
		}},
		"g4dn.xlarge": {"a GPU and a local disk", map[string]string{
			LabelArch: "amd64", awsPrefix + "category": "g", awsPrefix + "family": "g4dn", awsPrefix + "generation": "4",
			awsPrefix + "size": "xlarge", awsPrefix + "cpu": "4", awsPrefix + "memory": "16384", awsPrefix + "hypervisor": "nitro",
			awsPrefix + "cpu-manufacturer": "intel", awsPrefix + "cpu-sustained-clock-speed-mhz": "2500",
			awsPrefix + "ebs-bandwidth": "3500", awsPrefix + "network-bandwidth": "6250", awsPrefix + "local-nvme": "125",
			awsPrefix + "gpu-name": "t4", awsPrefix + "gpu-manufacturer": "nvidia", awsPrefix + "gpu-count": "1", awsPrefix + "gpu-memory": "16384",
			awsPrefix + "encryption-in-transit-supported": "true",
		}},
		"inf2.xlarge": {"a Neuron chip", map[string]string{
			LabelArch: "amd64", awsPrefix + "category": "inf", awsPrefix + "family": "inf2", awsPrefix + "generation": "2",
			awsPrefix + "size": "xlarge", awsPrefix + "cpu": "4", awsPrefix + "memory": "16384", awsPrefix + "hypervisor": "nitro",
			awsPrefix + "cpu-manufacturer": "amd", awsPrefix + "cpu-sustained-clock-speed-mhz": "2950",
			awsPrefix + "ebs-bandwidth": "10000", awsPrefix + "network-bandwidth": "2083",
			awsPrefix + "accelerator-name": "inferentia2", awsPrefix + "accelerator-manufacturer": "aws", awsPrefix + "accelerator-count": "1",
			awsPrefix + "encryption-in-transit-supported": "true",
		}},
		"u-6tb1.56xlarge": {"a high-memory name", map[string]string{
			LabelArch: "amd64", awsPrefix + "category": "u", awsPrefix + "family": "u-6tb1", awsPrefix + "generation": "1",
			awsPrefix + "size": "56xlarge", awsPrefix + "cpu": "224", awsPrefix + "memory": "6291456", awsPrefix + "hypervisor": "nitro",
			awsPrefix + "cpu-manufacturer": "intel", awsPrefix + "ebs-bandwidth": "38000", awsPrefix + "network-bandwidth": "100000",
			awsPrefix + "encryption-in-transit-supported": "true",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{LabelInstanceType: name}
			for _, m := range []map[string]string{common, tc.want} {
				maps.Copy(want, m)
			}
			if diff := cmp.Diff(want, find(t, &c, name).Labels); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestLabelsAreWellKnown: requirements may use every label that the catalogue gives.
func TestLabelsAreWellKnown(t *testing.T) {
	known := slices.Concat(karpv1.WellKnownLabels(), awsv1.WellKnownLabels())
	unknown := map[string]string{}
	for _, each := range load(t, "us-east-1").Types {
		for key := range each.Labels {
			if !slices.Contains(known, key) {
				unknown[key] = each.Name
			}
		}
	}
	for key, of := range unknown {
		t.Errorf("%s of %s is not in WellKnownLabels", key, of)
	}
}

func TestDevices(t *testing.T) {
	c := load(t, "us-east-1")
	for name, want := range map[string]model.Resources{
		"p4d.24xlarge":  {NvidiaGPU: 8, EFA: 4, PodENI: 62},
		"g4ad.xlarge":   {AMDGPU: 1, PodENI: 12},
		"inf2.24xlarge": {Neuron: 6, NeuronCore: 12, PodENI: 107},
		"trn1.32xlarge": {Neuron: 16, NeuronCore: 32, EFA: 8, PodENI: 82},
		"dl1.24xlarge":  {Gaudi: 8, EFA: 4, PodENI: 62},
		"t3.large":      {},
		"m4.large":      {},
		"c7g.xlarge":    {PodENI: 18},
	} {
		got := find(t, &c, name).Capacity.Clone()
		for _, basic := range []string{model.CPU, model.Memory, model.PodSlots, model.EphemeralStorage} {
			delete(got, basic)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestSane checks every type in every region.
func TestSane(t *testing.T) {
	// Of the regions with zones not all are large; of the others prices are known only.
	large := []string{"ap-southeast-1", "eu-central-1", "eu-west-1", "us-east-1", "us-east-2", "us-west-2"}
	for _, region := range Regions() {
		c := load(t, region)
		if least := map[bool]int{true: 600, false: 80}[slices.Contains(large, region)]; len(c.Types) < least {
			t.Errorf("%s: %d types", region, len(c.Types))
		}
		spot := 0
		for i := range c.Types {
			it := &c.Types[i]
			if i > 0 && it.Name <= c.Types[i-1].Name {
				t.Errorf("%s: %s out of order", region, it.Name)
			}
			if it.Capacity[model.PodSlots] < 4 || it.Allocatable[model.CPU] < 800 {
				t.Errorf("%s: %s: capacity %v", region, it.Name, it.Capacity)
			}
			onDemand := map[string]model.Price{}
			for _, o := range it.Offerings {
				if o.Price <= 0 || o.ZoneID == "" && slices.Contains(large, region) || o.Zone[:len(region)] != region {
					t.Errorf("%s: %s: offering %+v", region, it.Name, o)
				}
				if o.CapacityType == model.OnDemand {
					onDemand[o.Zone] = o.Price
				} else {
					spot++
				}
			}
			if len(onDemand) == 0 {
				t.Errorf("%s: %s is not sold on demand", region, it.Name)
			}
		}
		if spot < 1500 && slices.Contains(large, region) {
			t.Errorf("%s: %d spot offerings", region, spot)
		}
	}
}

func TestOptions(t *testing.T) {
	types, sales, err := Load("us-west-2")
	if err != nil {
		t.Fatal(err)
	}
	ten, none := 10, 0.0
	c := Lower(types, sales, Options{
		Zones: []string{"us-west-2b"}, MaxPods: &ten, MemoryOverheadPercent: &none,
		Reserved: Reserved{
			Kube: model.Resources{model.CPU: 500}, System: model.Resources{model.Memory: gib},
			EvictionHard: model.Resources{model.Memory: 2 * gib},
		},
		InstanceStoreRAID0: true,
		Unavailable:        func(name, _ string, ct model.CapacityType) bool { return name == "m5d.large" && ct == model.Spot },
	})
	got := find(t, &c, "m5d.large")
	want := model.Resources{
		model.CPU: 1500, model.Memory: 8*gib - (11*10+255)*mib - 3*gib, model.PodSlots: 10,
		model.EphemeralStorage: 75e9 - 75e8 - gib, PodENI: 9,
	}
	if diff := cmp.Diff(want, got.Allocatable); diff != "" {
		t.Error(diff)
	}
	for _, o := range got.Offerings {
		if o.Zone != "us-west-2b" || o.ZoneID != "usw2-az2" || o.Available != (o.CapacityType == model.OnDemand) {
			t.Errorf("offering %+v", o)
		}
	}
	if c.Generation == load(t, "us-west-2").Generation {
		t.Error("different contents, equal generation")
	}
}

func TestPrefixDelegation(t *testing.T) {
	small := Type{VCPU: 2, ENIs: 3, IPv4PerENI: 10}
	large := Type{VCPU: 96, ENIs: 15, IPv4PerENI: 50}
	for name, tc := range map[string]struct {
		t    Type
		opts Options
		want int64
	}{
		"addresses":       {small, Options{}, 29},
		"reserved":        {small, Options{ReservedENIs: 1}, 20},
		"prefixes":        {small, Options{PrefixDelegation: true}, 110},
		"prefixes, large": {large, Options{PrefixDelegation: true}, 250},
		"per core":        {large, Options{PodsPerCore: 2}, 192},
		"unknown limits":  {Type{VCPU: 2}, Options{}, 110},
	} {
		if got := tc.t.pods(&tc.opts); got != tc.want {
			t.Errorf("%s: %d pods, want %d", name, got, tc.want)
		}
	}
}
