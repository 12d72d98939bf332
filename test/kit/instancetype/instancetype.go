// Package instancetype builds the instance types of the catalogues that tests decide
// on. It imports the model only, so that tests inside the core's packages can use it.
package instancetype

import "spokeshave.dev/controller/core/model"

// New is a type for amd64 and Linux that leaves all it has to pods: cpu in thousandths
// of a CPU, memory in GiB, and so many pods. Its labels are those of Kubernetes.
func New(name string, cpu, gib, pods int64, offerings ...model.Offering) model.InstanceType {
	capacity := model.Resources{model.CPU: cpu, model.Memory: gib << 30, model.PodSlots: pods}
	return model.InstanceType{
		Name: name, Arch: "amd64", OS: "linux", Capacity: capacity, Allocatable: capacity.Clone(), Offerings: offerings,
		Labels: map[string]string{"node.kubernetes.io/instance-type": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"},
	}
}

// OnDemand is an offering that can be launched, in micro-dollars per hour.
func OnDemand(zone string, price model.Price) model.Offering {
	return model.Offering{Zone: zone, CapacityType: model.OnDemand, Price: price, Available: true}
}

// Spot is a spot offering that can be launched, in micro-dollars per hour.
func Spot(zone string, price model.Price) model.Offering {
	return model.Offering{Zone: zone, CapacityType: model.Spot, Price: price, Available: true}
}
