package bootstrap

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// kubeletFlags writes the class's kubelet section, labels and taints as flags,
// for images whose bootstrap script takes nothing else. A setting that kubelet
// has no flag for is refused.
// https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/
func kubeletFlags(in Node) ([]string, error) {
	out := []string{"--node-labels=" + labelFlag(in.Labels), "--register-with-taints=" + taintFlag(in.Taints)}
	k := in.Kubelet
	if k == nil {
		return out, nil
	}
	if len(k.Extra) > 0 {
		return nil, fmt.Errorf("spec.kubelet: %s cannot be set on images of this family, whose kubelet takes flags only; use AL2023 or Bottlerocket",
			strings.Join(slices.Sorted(maps.Keys(k.Extra)), ", "))
	}
	number := func(flag string, n *int32) {
		if n != nil {
			out = append(out, "--"+flag+"="+strconv.Itoa(int(*n)))
		}
	}
	pairs := func(flag, between string, all map[string]string) {
		parts := make([]string, 0, len(all))
		for _, key := range slices.Sorted(maps.Keys(all)) {
			parts = append(parts, key+between+all[key])
		}
		if len(parts) > 0 {
			out = append(out, "--"+flag+"="+strings.Join(parts, ","))
		}
	}
	grace := map[string]string{}
	for signal, d := range k.EvictionSoftGracePeriod {
		grace[signal] = d.Duration.String()
	}
	if len(k.ClusterDNS) > 1 { // the bootstrap scripts take one
		out = append(out, "--cluster-dns="+strings.Join(k.ClusterDNS, ","))
	}
	number("max-pods", k.MaxPods)
	number("pods-per-core", k.PodsPerCore)
	pairs("system-reserved", "=", k.SystemReserved)
	pairs("kube-reserved", "=", k.KubeReserved)
	pairs("eviction-hard", "<", k.EvictionHard)
	pairs("eviction-soft", "<", k.EvictionSoft)
	pairs("eviction-soft-grace-period", "=", grace)
	number("eviction-max-pod-grace-period", k.EvictionMaxPodGracePeriod)
	number("image-gc-high-threshold", k.ImageGCHighThresholdPercent)
	number("image-gc-low-threshold", k.ImageGCLowThresholdPercent)
	if k.CPUCFSQuota != nil {
		out = append(out, "--cpu-cfs-quota="+strconv.FormatBool(*k.CPUCFSQuota))
	}
	return out, nil
}

// clusterDNS is the address of the cluster's DNS that the class sets, or empty.
func clusterDNS(k *awsv1.KubeletConfiguration) string {
	if k == nil || len(k.ClusterDNS) == 0 {
		return ""
	}
	return k.ClusterDNS[0]
}
