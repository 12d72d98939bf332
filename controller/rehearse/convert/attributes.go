package convert

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/api/quantity"
)

// bounds are a range of the EC2 API.
type bounds struct {
	Min *float64 `json:"Min"`
	Max *float64 `json:"Max"`
}

// ranged returns the attributes that are a range, by the label that a node says them with, in
// the same unit: processors, MiB.
func ranged() map[string]string {
	return map[string]string{"VCpuCount": awsv1.LabelInstanceCPU, "MemoryMiB": awsv1.LabelInstanceMemory}
}

// carryAttributes carries instance requirements by attribute over.
func (o *override) carryAttributes(d *draft, field string) {
	all, labels := o.Attributes, ranged()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		label, ok := labels[name]
		var b bounds
		if !ok || json.Unmarshal(all[name], &b) != nil {
			d.note(field, "%s is not carried over; a label of instance types may say the same", name)
			continue
		}
		if b.Min != nil && *b.Min > 0 {
			d.require(label, karpv1.NodeSelectorOpGte, strconv.FormatInt(int64(*b.Min), 10))
		}
		if b.Max != nil {
			d.require(label, karpv1.NodeSelectorOpLte, strconv.FormatInt(int64(*b.Max), 10))
		}
	}
}

// selector is eksctl's way to choose instance types by what they have.
type selector struct {
	VCPUs        int    `json:"vCPUs"`
	Memory       string `json:"memory"` // "16" or "16GiB"
	GPUs         *int   `json:"gpus"`
	Architecture string `json:"cpuArchitecture"`
}

func (s selector) carry(d *draft) {
	if s.VCPUs > 0 {
		d.require(awsv1.LabelInstanceCPU, corev1.NodeSelectorOpIn, strconv.Itoa(s.VCPUs))
	}
	if s.Memory != "" {
		s.carryMemory(d)
	}
	if s.GPUs != nil {
		d.require(awsv1.LabelInstanceGPUCount, corev1.NodeSelectorOpIn, strconv.Itoa(*s.GPUs))
	}
	switch s.Architecture {
	case "x86_64", "amd64":
		d.require(corev1.LabelArchStable, corev1.NodeSelectorOpIn, karpv1.ArchitectureAmd64)
	case "arm64":
		d.require(corev1.LabelArchStable, corev1.NodeSelectorOpIn, karpv1.ArchitectureArm64)
	case "":
	default:
		d.need("instanceSelector", "cpuArchitecture %q: want x86_64 or arm64", s.Architecture)
	}
}

// carryMemory requires an amount, which is in GiB where it has no unit.
func (s selector) carryMemory(d *draft) {
	text := s.Memory
	if _, err := strconv.Atoi(text); err == nil {
		text += "Gi"
	}
	q, err := quantity.Parse(strings.TrimSuffix(text, "B"))
	if err != nil {
		d.need("instanceSelector", "memory %q: want an amount such as 16 or 16GiB", text)
		return
	}
	d.require(awsv1.LabelInstanceMemory, corev1.NodeSelectorOpIn, strconv.FormatInt(q.Value()>>20, 10))
}
