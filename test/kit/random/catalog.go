package random

import (
	"fmt"

	"spokeshave.dev/controller/core/model"
)

// Family is a kind of instance types of one architecture.
type Family struct {
	Name, Arch string
	// Memory is in GiB per vCPU, Price in USD per vCPU and hour on demand.
	Memory int64
	Price  float64
	// GPU says that the types have GPUs, one per 8 vCPUs.
	GPU bool
}

// Families are loosely those of EC2.
func Families() []Family {
	return []Family{
		{Name: "c6i", Arch: "amd64", Memory: 2, Price: 0.0425},
		{Name: "c7g", Arch: "arm64", Memory: 2, Price: 0.0363},
		{Name: "m6i", Arch: "amd64", Memory: 4, Price: 0.048},
		{Name: "m7g", Arch: "arm64", Memory: 4, Price: 0.0408},
		{Name: "r6i", Arch: "amd64", Memory: 8, Price: 0.063},
		{Name: "r7g", Arch: "arm64", Memory: 8, Price: 0.0536},
		{Name: "g5", Arch: "amd64", Memory: 4, Price: 0.12, GPU: true},
	}
}

// Catalog has every family in the sizes given in vCPUs, in three zones, spot and
// on demand. Some offerings are not available.
func (g *Generator) Catalog(name string, sizes ...int64) model.Catalog {
	c := model.Catalog{NodeClass: name, Region: "us-west-2", Generation: 1}
	for _, f := range Families() {
		for _, vcpu := range sizes {
			c.Types = append(c.Types, g.InstanceType(f, vcpu))
		}
	}
	return c
}

// InstanceType is the type of a family with so many vCPUs. Spot prices are drawn
// between 25 % and 65 % of the price on demand.
func (g *Generator) InstanceType(f Family, vcpu int64) model.InstanceType {
	t := model.InstanceType{
		Name: fmt.Sprintf("%s.x%d", f.Name, vcpu), Arch: f.Arch, OS: "linux",
		Labels: map[string]string{
			"karpenter.k8s.aws/instance-family": f.Name, "karpenter.k8s.aws/instance-cpu": fmt.Sprint(vcpu),
			"node.kubernetes.io/instance-type": fmt.Sprintf("%s.x%d", f.Name, vcpu), "kubernetes.io/arch": f.Arch, "kubernetes.io/os": "linux",
		},
		Capacity: model.Resources{
			"cpu": vcpu * 1000, "memory": vcpu * f.Memory * gib, "pods": 8 + 14*min(vcpu, 16), "ephemeral-storage": 20 * gib,
		},
	}
	if f.GPU {
		t.Capacity["nvidia.com/gpu"] = max(1, vcpu/8)
		t.Labels["karpenter.k8s.aws/instance-gpu-name"] = "a10g"
	}
	t.Allocatable = t.Capacity.Clone()
	t.Allocatable["cpu"] -= 80 + vcpu*3
	t.Allocatable["memory"] -= 255<<20 + 11<<20*t.Capacity["pods"] + 100<<20
	base := f.Price * float64(vcpu)
	for i, zone := range []string{"us-west-2a", "us-west-2b", "us-west-2c"} {
		id := fmt.Sprintf("usw2-az%d", i+1)
		t.Offerings = append(t.Offerings,
			model.Offering{Zone: zone, ZoneID: id, CapacityType: model.OnDemand, Price: model.PriceOf(base), Available: !g.Chance(0.03)},
			model.Offering{Zone: zone, ZoneID: id, CapacityType: model.Spot, Price: model.PriceOf(base * (0.25 + 0.4*g.Float64())), Available: !g.Chance(0.1)})
	}
	return t
}
