package bootstrap

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	awsv1 "spokeshave.dev/api/aws/v1"
)

// bottlerocketUserData is Bottlerocket's settings in TOML. What the controller
// must know to be true of the node replaces the class's own values, label by label;
// everything else of the class's own settings is kept. Taints are ours alone: nodes with
// others than those planned with would take no pods.
// https://bottlerocket.dev/en/os/latest/api/settings/kubernetes/
func bottlerocketUserData(own string, in Node) (string, error) {
	if in.Kubelet != nil && len(in.Kubelet.Extra) > 0 {
		return "", fmt.Errorf("spec.kubelet: %s cannot be set for Bottlerocket, which has settings of its own; write them under [settings.kubernetes] in spec.userData",
			strings.Join(slices.Sorted(maps.Keys(in.Kubelet.Extra)), ", "))
	}
	root := map[string]any{}
	if err := toml.Unmarshal([]byte(own), &root); err != nil {
		return "", fmt.Errorf("spec.userData: Bottlerocket takes settings in TOML: %w", err)
	}
	settings, err := table(root, "settings")
	if err != nil {
		return "", err
	}
	kubernetes, err := table(settings, "kubernetes")
	if err != nil {
		return "", fmt.Errorf("settings: %w", err)
	}
	kubernetes["cluster-name"] = in.Cluster.Name
	kubernetes["api-server"] = in.Cluster.Endpoint
	kubernetes["cluster-certificate"] = in.Cluster.CA
	labels, err := table(kubernetes, "node-labels")
	if err != nil {
		return "", fmt.Errorf("settings.kubernetes: %w", err)
	}
	for key, value := range in.Labels {
		labels[key] = value
	}
	taints := map[string][]string{}
	for _, t := range in.Taints {
		taints[t.Key] = append(taints[t.Key], t.Value+":"+string(t.Effect))
	}
	kubernetes["node-taints"] = taints
	addKubelet(kubernetes, in.Kubelet)
	if in.RAID0 {
		commands, err := table(settings, "bootstrap-commands")
		if err != nil {
			return "", fmt.Errorf("settings: %w", err)
		}
		commands[instanceStoreCommand] = instanceStore()
	}
	out, err := toml.Marshal(root)
	if err != nil {
		return "", fmt.Errorf("write Bottlerocket settings: %w", err)
	}
	return string(out), nil
}

// instanceStoreCommand is the name of the bootstrap command that joins the local disks.
// Commands run in the order of their names: this one is before those of the class.
const instanceStoreCommand = "000-instance-store"

// instanceStore joins the local disks to one and mounts what containers and pods write on
// it, at every start and before kubelet. On a machine without local disks it does nothing.
// https://bottlerocket.dev/en/os/latest/api/settings/bootstrap-commands/
func instanceStore() map[string]any {
	return map[string]any{
		"commands": [][]string{
			{"apiclient", "ephemeral-storage", "init"},
			{"apiclient", "ephemeral-storage", "bind", "--dirs", "/var/lib/containerd", "/var/lib/kubelet", "/var/log/pods"},
		},
		"essential": true,
		"mode":      "always",
	}
}

// table is the table under a name, made when it is missing.
func table(in map[string]any, name string) (map[string]any, error) {
	switch t := in[name].(type) {
	case nil:
		out := map[string]any{}
		in[name] = out
		return out, nil
	case map[string]any:
		return t, nil
	default:
		return nil, fmt.Errorf("spec.userData: %s is a %T and must be a table", name, t)
	}
}

// addKubelet writes the class's kubelet section under Bottlerocket's names.
func addKubelet(settings map[string]any, k *awsv1.KubeletConfiguration) {
	if k == nil {
		return
	}
	if len(k.ClusterDNS) > 0 {
		settings["cluster-dns-ip"] = k.ClusterDNS
	}
	for name, amounts := range map[string]map[string]string{
		"system-reserved": k.SystemReserved,
		"kube-reserved":   k.KubeReserved,
		"eviction-hard":   k.EvictionHard,
		"eviction-soft":   k.EvictionSoft,
	} {
		if len(amounts) > 0 {
			settings[name] = amounts
		}
	}
	grace := map[string]string{}
	for signal, d := range k.EvictionSoftGracePeriod {
		grace[signal] = d.Duration.String()
	}
	if len(grace) > 0 {
		settings["eviction-soft-grace-period"] = grace
	}
	for name, n := range map[string]*int32{
		"max-pods":                        k.MaxPods,
		"eviction-max-pod-grace-period":   k.EvictionMaxPodGracePeriod,
		"image-gc-high-threshold-percent": k.ImageGCHighThresholdPercent,
		"image-gc-low-threshold-percent":  k.ImageGCLowThresholdPercent,
	} {
		if n != nil {
			settings[name] = int64(*n)
		}
	}
	if k.CPUCFSQuota != nil {
		settings["cpu-cfs-quota-enforced"] = *k.CPUCFSQuota
	}
}
