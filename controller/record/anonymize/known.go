package anonymize

import (
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// domains returns the domains whose label keys, taint keys and resource names are
// public.
func domains() []string {
	return []string{"kubernetes.io", "k8s.io", "karpenter.sh", "k8s.aws", "spokeshave.dev", "amazonaws.com", "nvidia.com", "amd.com"}
}

// userDomain is the Kubernetes domain whose keys administrators choose.
const userDomain = "node-restriction.kubernetes.io"

// publicKey reports whether the key of a label or taint reveals nothing about its user.
func publicKey(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok || domain == userDomain {
		return false
	}
	return slices.ContainsFunc(domains(), func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) })
}

// publicValues reports whether the values of a label come from a public list.
func publicValues(key string) bool {
	switch key {
	case "topology.kubernetes.io/zone", "topology.kubernetes.io/region", "topology.k8s.aws/zone-id",
		"failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region",
		"kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch", "beta.kubernetes.io/os",
		"node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type", "node.kubernetes.io/windows-build",
		"karpenter.sh/capacity-type", "karpenter.sh/registered", "karpenter.sh/initialized":
		return true
	}
	return strings.HasPrefix(key, "karpenter.k8s.aws/instance-")
}

// publicResource reports whether a resource's name reveals nothing about its user.
func publicResource(name string) bool {
	if driver, ok := strings.CutPrefix(name, model.VolumesPrefix); ok {
		return strings.HasSuffix(driver, ".csi.aws.com")
	}
	return !strings.Contains(name, "/") || publicKey(name)
}

// publicIP reports whether the address of a host port is the same on every node.
func publicIP(ip string) bool {
	return slices.Contains([]string{"", "0.0.0.0", "127.0.0.1", "::", "::1"}, ip)
}
