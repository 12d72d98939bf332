package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/model"
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
	want := []string{"ap-southeast-1", "eu-central-1", "eu-west-1", "us-east-1", "us-east-2", "us-west-2"}
	if diff := cmp.Diff(want, Regions()); diff != "" {
		t.Error(diff)
	}
	if _, _, err := Load("mars-north-1"); err == nil {
		t.Error("an unknown region loads")
	}
}

// TestAllocatable holds figures that AWS and Karpenter publish for EKS nodes.
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
