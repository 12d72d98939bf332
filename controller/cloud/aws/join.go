package aws

import (
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
	"spokeshave.dev/controller/core/model"
)

// join is what user data tells a node.
type join struct {
	cluster cluster
	labels  map[string]string
	taints  []model.Taint
	kubelet *awsv1.KubeletConfiguration
	raid0   bool
}

func joinOf(class *awsv1.EC2NodeClass, details cluster, spec *provider.LaunchSpec) join {
	out := join{
		cluster: details,
		kubelet: class.Spec.Kubelet,
		raid0:   class.Spec.InstanceStorePolicy != nil && *class.Spec.InstanceStorePolicy == awsv1.InstanceStoreRAID0,
		labels:  map[string]string{karpv1.LabelNodePool: spec.NodePool},
		taints:  []model.Taint{{Key: karpv1.TaintKeyUnregistered, Effect: model.NoExecute}},
	}
	if len(spec.Options) > 0 {
		out.labels[karpv1.LabelCapacityType] = string(spec.Options[0].CapacityType)
	}
	for key, value := range spec.Labels {
		if settable(key) {
			out.labels[key] = value
		}
	}
	out.taints = append(out.taints, spec.Taints...)
	for _, t := range spec.StartupTaints {
		if !slices.Contains(out.taints, t) {
			out.taints = append(out.taints, t)
		}
	}
	return out
}

// taking is the same for a node that is told how many pods it takes; 0 leaves
// it as it is.
func (in join) taking(pods int64) join {
	if pods <= 0 {
		return in
	}
	kubelet := &awsv1.KubeletConfiguration{}
	if in.kubelet != nil {
		kubelet = in.kubelet.DeepCopy()
	}
	kubelet.MaxPods = new(int32(min(pods, math.MaxInt32)))
	in.kubelet = kubelet
	return in
}

// podsTold is how many pods the nodes of a type are told to take, 0 for nothing:
// the images know what the interfaces of each type carry, but not that the CNI
// delegates prefixes. What the class says goes before, and Windows nodes have no
// prefixes of this kind.
// https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses-procedure.html
func (p *Provider) podsTold(class *awsv1.EC2NodeClass, t *model.InstanceType) int64 {
	own := class.Spec.Kubelet != nil && class.Spec.Kubelet.MaxPods != nil
	if _, _, windows := windowsRelease(class.AMIFamily()); !p.cfg.PrefixDelegation || own || windows {
		return 0
	}
	return t.Capacity[model.PodSlots]
}

// settable says whether a label may and should be set by kubelet: it refuses to
// start with most labels of kubernetes.io, and those that follow from the
// instance would make a launch template of their own for each type and zone.
// They are copied from the NodeClaim when the node registers.
// https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/#noderestriction
func settable(key string) bool {
	domain, _, qualified := strings.Cut(key, "/")
	if !qualified {
		return true
	}
	switch domain {
	case "kubelet.kubernetes.io", "node.kubernetes.io":
		return key != corev1.LabelInstanceTypeStable && key != corev1.LabelWindowsBuild
	case awsv1.Group:
		return !strings.HasPrefix(key, awsv1.Group+"/instance-")
	case "topology.k8s.aws":
		return false
	}
	for _, reserved := range []string{"kubernetes.io", "k8s.io"} {
		if domain == reserved || strings.HasSuffix(domain, "."+reserved) {
			return strings.HasSuffix(domain, ".kubelet.kubernetes.io") || strings.HasSuffix(domain, ".node.kubernetes.io")
		}
	}
	return true
}

// labelFlag is the value of kubelet's --node-labels.
func labelFlag(labels map[string]string) string {
	parts := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, key+"="+labels[key])
	}
	return strings.Join(parts, ",")
}

// taintFlag is the value of kubelet's --register-with-taints.
func taintFlag(taints []model.Taint) string {
	parts := make([]string, 0, len(taints))
	for _, t := range taints {
		parts = append(parts, t.Key+"="+t.Value+":"+string(t.Effect))
	}
	return strings.Join(parts, ",")
}
