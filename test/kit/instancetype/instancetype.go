// Package instancetype builds the instance types and catalogues that tests decide on. It
// imports the model only, so that tests inside the core's packages can use it.
//
// Not here: random catalogues (test/kit/random) and the embedded one of EC2
// (test/kit/embedded).
package instancetype

import "spokeshave.dev/controller/core/model"

// Catalog has the types that nodes of the node class "default" may be of.
func Catalog(types ...model.InstanceType) model.Catalog {
	return model.Catalog{NodeClass: "default", Generation: 1, Types: types}
}

// New is a type for amd64 and Linux that leaves all it has to pods: cpu in thousandths
// of a CPU, memory in GiB, and so many pods. Its labels are those of Kubernetes.
func New(name string, cpu, gib, pods int64, offerings ...model.Offering) model.InstanceType {
	return Of(name, model.Resources{model.CPU: cpu, model.Memory: gib << 30, model.PodSlots: pods}, offerings...)
}

// Of is New for a type that has other resources, or memory in parts of a GiB. Capacity
// and allocatable are two maps: a test may change either.
func Of(name string, capacity model.Resources, offerings ...model.Offering) model.InstanceType {
	return model.InstanceType{
		Name: name, Arch: "amd64", OS: "linux", Capacity: capacity, Allocatable: capacity.Clone(), Offerings: offerings,
		Labels: map[string]string{"node.kubernetes.io/instance-type": name, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"},
	}
}

// ARM64 is the type for arm64.
func ARM64(t model.InstanceType) model.InstanceType {
	t.Arch, t.Labels["kubernetes.io/arch"] = "arm64", "arm64"
	return t
}

// OnDemand is an offering that can be launched, in micro-dollars per hour.
func OnDemand(zone string, price model.Price) model.Offering {
	return model.Offering{Zone: zone, CapacityType: model.OnDemand, Price: price, Available: true}
}

// Spot is a spot offering that can be launched, in micro-dollars per hour.
func Spot(zone string, price model.Price) model.Offering {
	return model.Offering{Zone: zone, CapacityType: model.Spot, Price: price, Available: true}
}

// Reserved is a capacity reservation with room for so many instances, in micro-dollars
// per hour.
func Reserved(zone string, price model.Price, reservation model.Reservation) model.Offering {
	return model.Offering{Zone: zone, CapacityType: model.Reserved, Price: price, Available: true, Reservation: &reservation}
}

// SoldOut is the offering when no instance of it can be launched.
func SoldOut(o model.Offering) model.Offering {
	o.Available = false
	return o
}
