package constraint

import (
	"strings"

	"spokeshave.dev/controller/core/model"
)

// Labels that a node gets from its offering, its pool or itself.
const (
	LabelZone         = "topology.kubernetes.io/zone"
	LabelZoneID       = "topology.k8s.aws/zone-id"
	LabelRegion       = "topology.kubernetes.io/region"
	LabelCapacityType = "karpenter.sh/capacity-type"
	LabelPool         = "karpenter.sh/nodepool"
	LabelNodeClass    = "karpenter.k8s.aws/ec2nodeclass"
	LabelInstanceType = "node.kubernetes.io/instance-type"
	LabelArch         = "kubernetes.io/arch"
	LabelOS           = "kubernetes.io/os"
	LabelHostname     = "kubernetes.io/hostname"
)

// UnknownHostname is the hostname of a node that does not exist yet. No selector
// can name it: label values have no NUL.
const UnknownHostname = "\x00"

// TypeLabel is the value of a label that an instance type determines.
func TypeLabel(t *model.InstanceType, key string) (string, bool) {
	if v, ok := t.Labels[key]; ok {
		return v, true
	}
	switch key {
	case LabelInstanceType:
		return t.Name, true
	case LabelArch:
		return t.Arch, t.Arch != ""
	case LabelOS:
		return t.OS, t.OS != ""
	}
	return "", false
}

// WellKnown says whether a label key belongs to Kubernetes or Karpenter. A NodePool
// that requires such a key selects instance types by it; other keys that no
// instance type has become labels of the pool's nodes.
func WellKnown(key string) bool {
	switch key {
	case LabelZone, LabelZoneID, LabelRegion, LabelInstanceType, LabelArch, LabelOS, LabelHostname,
		"node.kubernetes.io/windows-build":
		return true
	}
	domain, _, ok := strings.Cut(key, "/")
	return ok && (under(domain, "karpenter.sh") || under(domain, "karpenter.k8s.aws"))
}

func under(domain, parent string) bool {
	return domain == parent || strings.HasSuffix(domain, "."+parent)
}
