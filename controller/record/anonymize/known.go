package anonymize

import (
	"slices"
	"strings"

	"spokeshave.dev/controller/core/model"
)

// domains are those whose label keys, taint keys and resource names are public.
func domains() []string {
	return []string{"kubernetes.io", "k8s.io", "karpenter.sh", "k8s.aws", "spokeshave.dev", "amazonaws.com", "nvidia.com", "amd.com"}
}

// userDomain is the one Kubernetes domain whose keys administrators make up.
const userDomain = "node-restriction.kubernetes.io"

// publicKey says whether a label's or taint's key tells nothing about its user.
func publicKey(key string) bool {
	domain, _, ok := strings.Cut(key, "/")
	if !ok || domain == userDomain {
		return false
	}
	return slices.ContainsFunc(domains(), func(d string) bool { return domain == d || strings.HasSuffix(domain, "."+d) })
}

// publicValues says whether the values of a label are from a public list.
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

// publicResource says whether a resource's name tells nothing about its user.
func publicResource(name string) bool {
	if driver, ok := strings.CutPrefix(name, model.VolumesPrefix); ok {
		return strings.HasSuffix(driver, ".csi.aws.com")
	}
	return !strings.Contains(name, "/") || publicKey(name)
}

// publicIP says whether a host port's address is the same everywhere.
func publicIP(ip string) bool {
	return slices.Contains([]string{"", "0.0.0.0", "127.0.0.1", "::", "::1"}, ip)
}
