package solver

import (
	"strings"

	"spokeshave.dev/controller/core/model"
)

// Labels that a node gets from its offering, its pool or itself.
const (
	labelZone         = "topology.kubernetes.io/zone"
	labelZoneID       = "topology.k8s.aws/zone-id"
	labelRegion       = "topology.kubernetes.io/region"
	labelCapacityType = "karpenter.sh/capacity-type"
	labelPool         = "karpenter.sh/nodepool"
	labelNodeClass    = "karpenter.k8s.aws/ec2nodeclass"
	labelInstanceType = "node.kubernetes.io/instance-type"
	labelArch         = "kubernetes.io/arch"
	labelOS           = "kubernetes.io/os"
	labelHostname     = "kubernetes.io/hostname"
)

// unknownHostname stands for the name of a node that does not exist yet: it is
// there and equals nothing that anybody can write.
const unknownHostname = "\x00"

// typeLabel is the value of a label that an instance type determines.
func typeLabel(t *model.InstanceType, key string) (string, bool) {
	if v, ok := t.Labels[key]; ok {
		return v, true
	}
	switch key {
	case labelInstanceType:
		return t.Name, true
	case labelArch:
		return t.Arch, t.Arch != ""
	case labelOS:
		return t.OS, t.OS != ""
	}
	return "", false
}

// reserved says whether a key belongs to Kubernetes or Karpenter: a pool that
// requires it selects instance types by it and does not define it.
func reserved(key string) bool {
	switch key {
	case labelZone, labelZoneID, labelRegion, labelInstanceType, labelArch, labelOS, labelHostname,
		"node.kubernetes.io/windows-build":
		return true
	}
	domain, _, ok := strings.Cut(key, "/")
	return ok && (under(domain, "karpenter.sh") || under(domain, "karpenter.k8s.aws"))
}

func under(domain, parent string) bool {
	return domain == parent || strings.HasSuffix(domain, "."+parent)
}

// matchesLabels says whether a node with these labels meets all requirements
// of a term; an empty term matches nothing, as in Kubernetes.
func matchesTerm(term model.Term, labels func(string) (string, bool)) bool {
	for i := range term {
		value, present := labels(term[i].Key)
		if !term[i].Matches(value, present) {
			return false
		}
	}
	return len(term) > 0
}

// selects says whether the pod's selector and required affinity allow a node.
func selects(s *model.PodSpec, labels func(string) (string, bool)) bool {
	for k, want := range s.NodeSelector {
		if have, ok := labels(k); !ok || have != want {
			return false
		}
	}
	for _, term := range s.Affinity {
		if matchesTerm(term, labels) {
			return true
		}
	}
	return len(s.Affinity) == 0
}
