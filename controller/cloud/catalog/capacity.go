package catalog

import (
	"maps"
	"math"
	"strings"

	awsv1 "spokeshave.dev/api/aws/v1"
	"spokeshave.dev/controller/core/model"
)

// Resource names that devices on EC2 instances are requested by.
const (
	NvidiaGPU  = "nvidia.com/gpu"
	AMDGPU     = "amd.com/gpu"
	Neuron     = "aws.amazon.com/neuron"
	NeuronCore = "aws.amazon.com/neuroncore"
	Gaudi      = "habana.ai/gaudi"
	PodENI     = "vpc.amazonaws.com/pod-eni"
	EFA        = "vpc.amazonaws.com/efa"
)

const (
	mib = int64(1) << 20
	gib = int64(1) << 30
)

// capacity returns the node's resources before reservations.
func (t *Type) capacity(opts *Options) model.Resources {
	c := model.Resources{
		model.CPU:              int64(t.VCPU) * 1000,
		model.Memory:           t.memory(opts),
		model.PodSlots:         t.pods(opts),
		model.EphemeralStorage: t.storage(opts),
	}
	set := func(name string, n int) {
		if n > 0 {
			c[name] += int64(n)
		}
	}
	set(PodENI, t.PodENIs)
	set(EFA, t.adapters(opts))
	for _, d := range t.GPUs {
		switch strings.ToLower(d.Manufacturer) {
		case "nvidia":
			set(NvidiaGPU, d.Count)
		case "amd":
			set(AMDGPU, d.Count)
		case "habana":
			set(Gaudi, d.Count)
		}
	}
	for _, d := range t.Accelerators {
		switch strings.ToLower(d.Manufacturer) {
		case "aws":
			set(Neuron, d.Count)
			set(NeuronCore, d.Count*neuronCores(d.Name))
		}
	}
	return c
}

// adapters returns the Elastic Fabric Adapters of a node whose pods request some: the class's
// own EFA-only interfaces where it has interfaces of its own, else one for each that the type
// takes. Windows has no driver for them.
func (t *Type) adapters(opts *Options) int {
	switch {
	case opts.OS == "windows":
		return 0
	case len(opts.Needs.Interfaces) > 0:
		return efaOnly(opts.Needs.Interfaces)
	case opts.MaxEFAs > 0:
		return min(t.EFAs, opts.MaxEFAs)
	default:
		return t.EFAs
	}
}

// noIPOnDefaultCard returns how many interfaces of the default network card the class gives
// to EFA, so that they have no addresses for pods.
func (o *Options) noIPOnDefaultCard() int {
	n := 0
	for _, i := range o.Needs.Interfaces {
		if i.NetworkCardIndex == 0 && i.InterfaceType == awsv1.InterfaceTypeEFAOnly {
			n++
		}
	}
	return n
}

// neuronCores returns the number of Neuron cores of a chip.
// https://awsdocs-neuron.readthedocs-hosted.com/en/latest/about-neuron/arch/neuron-hardware/
func neuronCores(chip string) int {
	switch strings.ToLower(chip) {
	case "inferentia":
		return 4
	case "trainium2":
		return 8
	default:
		return 2
	}
}

// memory returns the advertised memory less the hypervisor's share, in bytes. On
// Graviton the kernel reserves 64 MiB more for its contiguous memory allocator (CMA).
func (t *Type) memory(opts *Options) int64 {
	overhead := DefaultMemoryOverhead
	if opts.MemoryOverheadPercent != nil {
		overhead = *opts.MemoryOverheadPercent
	}
	advertised := t.MemoryMiB
	if t.Arch == "arm64" {
		advertised -= 64
	}
	kept := int64(math.Ceil(float64(advertised) * overhead))
	return max(0, advertised-kept) * mib
}

func (t *Type) storage(opts *Options) int64 {
	if opts.InstanceStoreRAID0 && t.LocalNVMeGB > 0 {
		return int64(t.LocalNVMeGB) * 1e9
	}
	if opts.RootVolume > 0 {
		return opts.RootVolume
	}
	return 20 * gib
}

// allocatable returns the capacity less kube-reserved, system-reserved and the hard
// eviction thresholds.
// https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/#node-allocatable
func (t *Type) allocatable(capacity model.Resources, opts *Options) model.Resources {
	out := capacity.Clone()
	take := func(from model.Resources) {
		for name, n := range from {
			if have, ok := out[name]; ok {
				out[name] = max(0, have-n)
			}
		}
	}
	pods := capacity[model.PodSlots]
	if opts.ReserveByInterfaces {
		pods = t.pods(&Options{})
	}
	take(override(kubeReserved(t.VCPU, pods), opts.Reserved.Kube))
	take(opts.Reserved.System)
	take(opts.Reserved.thresholds(capacity))
	return out
}

// thresholds returns the amounts below which kubelet evicts pods.
func (r *Reserved) thresholds(capacity model.Resources) model.Resources {
	out := override(model.Resources{
		// What the EKS AMIs configure: memory.available<100Mi, nodefs.available<10%.
		// https://docs.aws.amazon.com/eks/latest/userguide/node-pressure-eviction.html
		model.Memory:           100 * mib,
		model.EphemeralStorage: ShareOf(capacity[model.EphemeralStorage], 0.1),
	}, r.EvictionHard)
	for name, share := range r.EvictionShare {
		out[name] = ShareOf(capacity[name], share)
	}
	return out
}

// ShareOf returns the share of an amount, rounded up.
func ShareOf(amount int64, share float64) int64 {
	return int64(math.Ceil(float64(amount) * share))
}

// kubeReserved returns what the EKS AMIs (AL2023, nodeadm) reserve for kubelet and the
// container runtime: memory of 255 MiB and 11 MiB per pod; CPU of 6 % of the first
// core, 1 % of the second, 0.5 % of each of the next two and 0.25 % of each further
// one; 1 GiB of storage. The pods are as many as the interfaces have addresses for on AL2
// and AL2023, and as kubelet takes at most on Bottlerocket and Windows.
// https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html
// https://awslabs.github.io/amazon-eks-ami/nodeadm/
func kubeReserved(vcpu int, pods int64) model.Resources {
	return model.Resources{
		model.CPU:              reservedCPU(vcpu),
		model.Memory:           (11*pods + 255) * mib,
		model.EphemeralStorage: gib,
	}
}

// reservedCPU returns the reserved CPU in millicores, rounded down as the AMI does.
func reservedCPU(vcpu int) int64 {
	reserved := 0.0
	for core := range vcpu {
		switch {
		case core < 1:
			reserved += 60
		case core < 2:
			reserved += 10
		case core < 4:
			reserved += 5
		default:
			reserved += 2.5
		}
	}
	return int64(reserved)
}

func override(defaults, own model.Resources) model.Resources {
	maps.Copy(defaults, own)
	return defaults
}
