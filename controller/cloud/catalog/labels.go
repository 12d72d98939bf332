package catalog

import (
	"strconv"
	"strings"
)

// Label keys of nodes. Nodes of other clouds do not have those of karpenter.k8s.aws.
const (
	LabelInstanceType = "node.kubernetes.io/instance-type"
	LabelArch         = "kubernetes.io/arch"
	LabelOS           = "kubernetes.io/os"
	LabelRegion       = "topology.kubernetes.io/region"

	awsPrefix = "karpenter.k8s.aws/instance-"

	labelNitroSandbox = "karpenter.k8s.aws/nitro-sandbox"
)

// labels returns the type's well-known labels. A fact that is unknown or does not apply
// has no label, so that the operator DoesNotExist works.
func (t *Type) labels(opts *Options) map[string]string {
	family, size, _ := strings.Cut(t.Name, ".")
	category, generation := split(family)
	out := map[string]string{
		LabelInstanceType: t.Name,
		LabelArch:         t.Arch,
		LabelOS:           opts.OS,
	}
	text := func(key, value string) {
		if value != "" {
			out[awsPrefix+key] = value
		}
	}
	number := func(key string, n int64) {
		if n > 0 {
			out[awsPrefix+key] = strconv.FormatInt(n, 10)
		}
	}
	if opts.Region != "" {
		out[LabelRegion] = opts.Region
	}
	text("category", category)
	text("family", family)
	text("generation", generation)
	text("size", size)
	out[awsPrefix+"hypervisor"] = t.Hypervisor // empty on bare metal, and present
	out[awsPrefix+"encryption-in-transit-supported"] = strconv.FormatBool(t.EncryptionInTransit)
	out[awsPrefix+"capability-flex"] = strconv.FormatBool(strings.HasSuffix(family, "-flex"))
	out[awsPrefix+"tenancy"] = "default"
	out[labelNitroSandbox] = "false" // no source says which types have it
	number("cpu", int64(t.VCPU))
	text("cpu-manufacturer", t.CPUManufacturer)
	number("cpu-sustained-clock-speed-mhz", int64(t.ClockMHz))
	number("memory", t.MemoryMiB)
	number("ebs-bandwidth", int64(t.EBSMbps))
	number("network-bandwidth", int64(t.NetworkMbps))
	number("local-nvme", int64(t.LocalNVMeGB))
	if len(t.GPUs) == 1 {
		g := &t.GPUs[0]
		text("gpu-name", kebab(g.Name))
		text("gpu-manufacturer", kebab(g.Manufacturer))
		number("gpu-count", int64(g.Count))
		number("gpu-memory", g.MemoryMiB)
	}
	if len(t.Accelerators) == 1 {
		a := &t.Accelerators[0]
		text("accelerator-name", kebab(a.Name))
		text("accelerator-manufacturer", kebab(a.Manufacturer))
		number("accelerator-count", int64(a.Count))
	}
	return out
}

// kebab converts a product name to a label value: "Radeon Pro V520" becomes
// radeon-pro-v520.
func kebab(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), " ", "-")
}
