package bootstrap

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

// Cluster is what a node must know of the cluster to join it.
type Cluster struct {
	Name string
	// Endpoint is the URL of the API server, CA its certificate authority in base64,
	// ServiceCIDR the range of service addresses.
	Endpoint    string
	CA          string
	ServiceCIDR string
	// DNS is the address of the cluster's DNS service, "" when it is not known: kubelets
	// then use the tenth address of the service range, as EKS does.
	DNS string
	// Version is major.minor of Kubernetes.
	Version string
}

// IPv6 says that pods and services have IPv6 addresses.
func (c *Cluster) IPv6() bool {
	return strings.Contains(c.ServiceCIDR, ":") || strings.Contains(c.DNS, ":")
}

// Node is what user data tells a node.
type Node struct {
	Cluster Cluster
	Labels  map[string]string
	Taints  []model.Taint
	Kubelet *awsv1.KubeletConfiguration
	// RAID0 joins the instance store disks to one.
	RAID0 bool
}

// NodeOf is what the nodes of a launch are told.
func NodeOf(class *awsv1.EC2NodeClass, cluster Cluster, spec *provider.LaunchSpec) Node {
	out := Node{
		Cluster: cluster,
		Kubelet: withDNS(class.Spec.Kubelet, cluster.DNS),
		RAID0:   class.Spec.InstanceStorePolicy != nil && *class.Spec.InstanceStorePolicy == awsv1.InstanceStoreRAID0,
		Labels:  map[string]string{karpv1.LabelNodePool: spec.NodePool},
		Taints:  []model.Taint{{Key: karpv1.TaintKeyUnregistered, Effect: model.NoExecute}},
	}
	if class.AMIFamily() != awsv1.AMIFamilyCustom {
		// The user data has all taints. Startup taints that a daemon takes off before the
		// node is registered must not come back.
		out.Labels[karpv1.LabelDoNotSyncTaints] = "true"
	}
	if len(spec.Options) > 0 {
		out.Labels[karpv1.LabelCapacityType] = string(spec.Options[0].CapacityType)
	}
	for key, value := range spec.Labels {
		if settable(key) {
			out.Labels[key] = value
		}
	}
	out.Taints = append(out.Taints, spec.Taints...)
	for _, t := range spec.StartupTaints {
		if !slices.Contains(out.Taints, t) {
			out.Taints = append(out.Taints, t)
		}
	}
	return out
}

// withDNS is a kubelet section that names the cluster's DNS, unless it names its own.
func withDNS(k *awsv1.KubeletConfiguration, dns string) *awsv1.KubeletConfiguration {
	if dns == "" || k != nil && len(k.ClusterDNS) > 0 {
		return k
	}
	out := &awsv1.KubeletConfiguration{}
	if k != nil {
		out = k.DeepCopy()
	}
	out.ClusterDNS = []string{dns}
	return out
}

// WithMaxPods is the same for a node that is told how many pods it takes; 0 leaves
// it as it is.
func (in Node) WithMaxPods(pods int64) Node {
	if pods <= 0 {
		return in
	}
	kubelet := &awsv1.KubeletConfiguration{}
	if in.Kubelet != nil {
		kubelet = in.Kubelet.DeepCopy()
	}
	kubelet.MaxPods = new(int32(min(pods, math.MaxInt32)))
	in.Kubelet = kubelet
	return in
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
