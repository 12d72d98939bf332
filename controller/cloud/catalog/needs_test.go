package catalog

import (
	"slices"
	"testing"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
)

// lowered is the catalogue of a class in us-east-1.
func lowered(t *testing.T, change func(*awsv1.EC2NodeClass)) model.Catalog {
	t.Helper()
	types, sales, err := Load("us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	class := &awsv1.EC2NodeClass{Spec: awsv1.EC2NodeClassSpec{AMIFamily: new(awsv1.AMIFamilyBottlerocket)}}
	change(class)
	opts, err := ForClass(class)
	if err != nil {
		t.Fatal(err)
	}
	return Lower(types, sales, opts)
}

// A class is offered the types that EC2 launches it on, and no others.
func TestNeeds(t *testing.T) {
	for name, c := range map[string]struct {
		reason  string
		change  func(*awsv1.EC2NodeClass)
		has     []string
		without []string
	}{
		"any": {reason: "nothing is asked for", change: func(*awsv1.EC2NodeClass) {}, has: []string{"t2.micro", "m5.large", "c5.metal", "a1.large"}},
		"AL2023": {
			reason: "which does not run on a1", has: []string{"m6g.large"}, without: []string{"a1.large", "a1.metal"},
			change: func(c *awsv1.EC2NodeClass) { c.Spec.AMIFamily = new(awsv1.AMIFamilyAL2023) },
		},
		"connection tracking": {
			reason: "on Nitro alone", has: []string{"m5.large"}, without: []string{"t2.micro", "m4.large"},
			change: func(c *awsv1.EC2NodeClass) {
				c.Spec.ConnectionTracking = &awsv1.ConnectionTracking{UDPTimeout: new(int32(30))}
			},
		},
		"two cards": {
			reason: "the second card must be there, and take an interface", has: []string{"p4d.24xlarge", "c6in.32xlarge"}, without: []string{"m5.large", "m4.large"},
			change: func(c *awsv1.EC2NodeClass) {
				c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{
					{InterfaceType: awsv1.InterfaceTypeInterface}, {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeInterface},
				}
			},
		},
		"three interfaces": {
			reason: "small types take two", has: []string{"m5.large"}, without: []string{"t3.micro"},
			change: func(c *awsv1.EC2NodeClass) {
				c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}, {DeviceIndex: 2, InterfaceType: awsv1.InterfaceTypeInterface}}
			},
		},
		"EFA": {
			reason: "adapters on types that have some", has: []string{"c5n.18xlarge"}, without: []string{"m5.large"},
			change: func(c *awsv1.EC2NodeClass) {
				c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}, {DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly}}
			},
		},
		"nested virtualization": {
			reason: "a few families", without: []string{"m5.large", "c5.metal"},
			change: func(c *awsv1.EC2NodeClass) {
				c.Spec.CPUOptions = &awsv1.CPUOptions{NestedVirtualization: new("enabled")}
			},
		},
		"no nested virtualization": {
			reason: "all do without", has: []string{"m5.large"},
			change: func(c *awsv1.EC2NodeClass) {
				c.Spec.CPUOptions = &awsv1.CPUOptions{NestedVirtualization: new("disabled")}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := lowered(t, c.change)
			sold := func(name string) bool {
				return slices.ContainsFunc(got.Types, func(t model.InstanceType) bool { return t.Name == name })
			}
			for _, name := range c.has {
				if !sold(name) {
					t.Errorf("%s: %s is missing", c.reason, name)
				}
			}
			for _, name := range c.without {
				if sold(name) {
					t.Errorf("%s: %s is offered", c.reason, name)
				}
			}
		})
	}
}

// TestNestedVirtualization: a class that enables it is offered the virtual types of the families
// that have it.
func TestNestedVirtualization(t *testing.T) {
	for name, want := range map[string]bool{"c8i.large": true, "m8i.xlarge": true, "r8i.2xlarge": true, "m8i-flex.large": true, "m7i.large": false, "c8g.large": false} {
		kind := Type{Name: name, Arch: "amd64", VCPU: 2, MemoryMiB: 8192, Hypervisor: "nitro", ENIs: 3, IPv4PerENI: 10}
		kind.Can = abilities(&kind)
		out := Lower([]Type{kind}, []Sale{{Type: name, OnDemand: 5, Zones: []string{"a"}}}, Options{Needs: Needs{NestedVirtualization: true}})
		if got := len(out.Types) == 1; got != want {
			t.Errorf("%s is offered: %t, want %t", name, got, want)
		}
	}
}

// Groups take types by their strategy: burstable ones fit no cluster group.
func TestNeedsOfGroups(t *testing.T) {
	types, sales, err := Load("us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	for strategy, burstable := range map[string]bool{"": true, "cluster": false, "partition": true, "spread": true} {
		c := Lower(types, sales, Options{Needs: Needs{PlacementStrategy: strategy}})
		if got := slices.ContainsFunc(c.Types, func(t model.InstanceType) bool { return t.Name == "t3.large" }); got != burstable {
			t.Errorf("strategy %q: t3.large is offered: %t", strategy, got)
		}
		find(t, &c, "m5.large")
	}
}

// How many adapters a node has follows from the class's interfaces, where it has some.
func TestAdapters(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		change func(*awsv1.EC2NodeClass)
		want   int64
	}{
		"type":   {"one for each card", func(*awsv1.EC2NodeClass) {}, 4},
		"public": {"EC2 gives a public address to one interface alone", func(c *awsv1.EC2NodeClass) { c.Spec.AssociatePublicIPAddress = new(true) }, 1},
		"class": {"the class's own", func(c *awsv1.EC2NodeClass) {
			c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{
				{InterfaceType: awsv1.InterfaceTypeInterface}, {DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly}, {NetworkCardIndex: 1, DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly},
			}
		}, 2},
		"no adapter": {"the class's own, without any", func(c *awsv1.EC2NodeClass) {
			c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}}
		}, 0},
	} {
		catalog := lowered(t, c.change)
		if got := find(t, &catalog, "p4d.24xlarge").Capacity[EFA]; got != c.want {
			t.Errorf("%s (%s): %d adapters, want %d", name, c.reason, got, c.want)
		}
	}
	windows := lowered(t, func(*awsv1.EC2NodeClass) {})
	few := lowered(t, func(c *awsv1.EC2NodeClass) {
		c.Spec.NetworkInterfaces = []awsv1.NetworkInterface{{InterfaceType: awsv1.InterfaceTypeInterface}, {DeviceIndex: 1, InterfaceType: awsv1.InterfaceTypeEFAOnly}}
	})
	// c5n.18xlarge: 15 interfaces of 50 addresses, one of which has none for pods.
	if a, b := find(t, &windows, "c5n.18xlarge").Capacity[model.PodSlots], find(t, &few, "c5n.18xlarge").Capacity[model.PodSlots]; a != 15*49+2 || b != 14*49+2 {
		t.Errorf("%d pods, and %d beside an interface of EFA alone", a, b)
	}
}

// Branch interfaces are those of AWS's table; a rule by vCPUs was wrong for these.
// https://github.com/aws/amazon-vpc-resource-controller-k8s/blob/master/pkg/aws/vpc/limits.go
func TestBranchENIs(t *testing.T) {
	for name, want := range map[string]int{
		"m5.large": 9, "a1.4xlarge": 54, "p4d.24xlarge": 62, "g4ad.xlarge": 12, "t3.large": 0, "m4.large": 0, "no.such": 0,
	} {
		if got := BranchENIs(name); got != want {
			t.Errorf("%s: %d branch interfaces, want %d", name, got, want)
		}
	}
	if all, err := interfaceTable(); err != nil || len(all) < 500 {
		t.Errorf("the table has %d types, %v", len(all), err)
	}
}

// EC2 counts Habana's chips as GPUs, and so do labels.
func TestHabanaIsGPU(t *testing.T) {
	c := load(t, "us-east-1")
	labels := find(t, &c, "dl1.24xlarge").Labels
	if labels[awsv1.LabelInstanceGPUCount] != "8" || labels[awsv1.LabelInstanceGPUManufacturer] != "habana" || labels[awsv1.LabelInstanceAcceleratorCount] != "" {
		t.Errorf("labels %v, want 8 GPUs of Habana", labels)
	}
}
