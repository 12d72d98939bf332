package catalog

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// DefaultMemoryOverhead is the share of the advertised memory that hypervisor and
// firmware use. The setting vmMemoryOverheadPercent replaces it.
const DefaultMemoryOverhead = 0.075

// Options are the node class and the kubelet settings for which types are lowered. The
// zero value is linux with AWS's defaults.
//
// Size: one field for each setting that changes what nodes hold.
type Options struct {
	NodeClass string
	Region    string
	OS        string // linux when empty
	// Zones restricts the offerings; nil keeps all.
	Zones []string
	// MaxPods replaces the number of pods that the VPC CNI allows.
	MaxPods *int
	// PodsPerCore limits the number of pods per vCPU; 0 sets no limit.
	PodsPerCore int
	// ReservedENIs are interfaces that pods cannot use.
	ReservedENIs     int
	PrefixDelegation bool
	Reserved         Reserved
	// Needs leave only the types that the class can be launched on.
	Needs Needs
	// MaxEFAs limits the adapters of a node; 0 sets no limit.
	MaxEFAs int
	// ReserveByInterfaces says that kubelet's default memory reserve counts the pods that all
	// interfaces have addresses for, whatever number kubelet is told to take.
	ReserveByInterfaces bool
	// MemoryOverheadPercent is a share from 0 to 1. Nil means 0.075, since 0 is a valid
	// value.
	MemoryOverheadPercent *float64
	// RootVolume is the size of the root volume in bytes, 20 GiB when 0.
	RootVolume int64
	// InstanceStoreRAID0 counts local NVMe disks as ephemeral storage.
	InstanceStoreRAID0 bool
	// Unavailable reports whether an offering is sold out for now; nil means that none
	// is.
	Unavailable func(instanceType, zone string, ct model.CapacityType) bool
}

// Reserved is what kubelet keeps from pods. Its fields replace the defaults for the
// resources that they name.
type Reserved struct {
	Kube, System model.Resources
	// EvictionHard are the thresholds on memory and ephemeral-storage, in bytes, below which
	// kubelet evicts pods. EvictionShare are those given as a share of the capacity, from 0
	// to 1. A resource is in one of both.
	EvictionHard  model.Resources
	EvictionShare map[string]float64
}

// Lower returns the catalogue of a node class: the types with an offering in the zones,
// sorted by name. It is a pure function.
func Lower(types []Type, sales []Sale, opts Options) model.Catalog {
	if opts.OS == "" {
		opts.OS = "linux"
	}
	byType := make(map[string]*Sale, len(sales))
	for i := range sales {
		byType[sales[i].Type] = &sales[i]
	}
	out := model.Catalog{NodeClass: opts.NodeClass, Region: opts.Region}
	for i := range types {
		t := &types[i]
		sale := byType[t.Name]
		if sale == nil || !t.meets(&opts.Needs) {
			continue
		}
		offerings := sale.offerings(&opts)
		if len(offerings) == 0 {
			continue
		}
		capacity := t.capacity(&opts)
		out.Types = append(out.Types, model.InstanceType{
			Name: t.Name, Arch: t.Arch, OS: opts.OS,
			Labels:      t.labels(&opts),
			Capacity:    capacity,
			Allocatable: t.allocatable(capacity, &opts),
			Offerings:   offerings,
		})
	}
	slices.SortFunc(out.Types, func(a, b model.InstanceType) int { return cmp.Compare(a.Name, b.Name) })
	out.Generation = Generation(&out)
	return out
}

// offerings returns the sale's on-demand and spot offerings, by zone.
func (s *Sale) offerings(opts *Options) []model.Offering {
	zones := slices.Clone(s.Zones)
	slices.Sort(zones)
	var out []model.Offering
	add := func(zone string, ct model.CapacityType, price model.Price, interrupted float64) {
		out = append(out, model.Offering{
			Zone: zone, ZoneID: s.ZoneIDs[zone], CapacityType: ct, Price: price, Interruption: interrupted,
			Available: opts.Unavailable == nil || !opts.Unavailable(s.Type, zone, ct),
		})
	}
	for _, zone := range slices.Compact(zones) {
		if opts.Zones != nil && !slices.Contains(opts.Zones, zone) {
			continue
		}
		if s.OnDemand > 0 {
			add(zone, model.OnDemand, s.OnDemand, 0)
			out[len(out)-1].Estimated = s.Estimated
		}
		if price, ok := s.Spot[zone]; ok && price > 0 {
			add(zone, model.Spot, price, s.Interruption)
		}
	}
	return out
}
