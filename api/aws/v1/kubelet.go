package v1

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// KubeletConfiguration configures the kubelet, under the names of its own
// configuration file. The fields listed here are validated, and those that
// bear on a node's size are reckoned with; any other field is kept in Extra and
// handed to the node as it is.
//
// +kubebuilder:pruning:PreserveUnknownFields
// +kubebuilder:validation:XValidation:message="imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent",rule="!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent"
// +kubebuilder:validation:XValidation:message="every signal in evictionSoft needs its evictionSoftGracePeriod",rule="!has(self.evictionSoft) || (has(self.evictionSoftGracePeriod) && self.evictionSoft.all(k, k in self.evictionSoftGracePeriod))"
// +kubebuilder:validation:XValidation:message="every signal in evictionSoftGracePeriod needs its evictionSoft",rule="!has(self.evictionSoftGracePeriod) || (has(self.evictionSoft) && self.evictionSoftGracePeriod.all(k, k in self.evictionSoft))"
type KubeletConfiguration struct {
	// clusterDNS are the addresses of the cluster's DNS service.
	// +optional
	ClusterDNS []string `json:"clusterDNS,omitempty"`
	// maxPods is how many pods a node may run, in place of what its network interfaces allow.
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxPods *int32 `json:"maxPods,omitempty"`
	// podsPerCore bounds a node's pods by its cores; the lower of this and maxPods counts.
	// +kubebuilder:validation:Minimum=0
	// +optional
	PodsPerCore *int32 `json:"podsPerCore,omitempty"`
	// systemReserved is kept for the operating system.
	// +kubebuilder:validation:XValidation:message="valid keys for systemReserved are ['cpu','memory','ephemeral-storage','pid']",rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage', 'pid'])"
	// +kubebuilder:validation:XValidation:message="systemReserved value cannot be a negative resource quantity",rule="self.all(k, !self[k].startsWith('-'))"
	// +optional
	SystemReserved map[string]string `json:"systemReserved,omitempty"`
	// kubeReserved is kept for Kubernetes.
	// +kubebuilder:validation:XValidation:message="valid keys for kubeReserved are ['cpu','memory','ephemeral-storage','pid']",rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage', 'pid'])"
	// +kubebuilder:validation:XValidation:message="kubeReserved value cannot be a negative resource quantity",rule="self.all(k, !self[k].startsWith('-'))"
	// +optional
	KubeReserved map[string]string `json:"kubeReserved,omitempty"`
	// evictionHard are the thresholds, quantities or percentages, at which pods are evicted at once.
	// +kubebuilder:validation:XValidation:message="valid keys for evictionHard are ['memory.available','nodefs.available','nodefs.inodesFree','imagefs.available','imagefs.inodesFree','pid.available']",rule="self.all(k, k in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])"
	// +optional
	EvictionHard map[string]string `json:"evictionHard,omitempty"`
	// evictionSoft are the thresholds at which pods are evicted after a grace period.
	// +kubebuilder:validation:XValidation:message="valid keys for evictionSoft are ['memory.available','nodefs.available','nodefs.inodesFree','imagefs.available','imagefs.inodesFree','pid.available']",rule="self.all(k, k in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])"
	// +optional
	EvictionSoft map[string]string `json:"evictionSoft,omitempty"`
	// evictionSoftGracePeriod is that grace period.
	// +kubebuilder:validation:XValidation:message="valid keys for evictionSoftGracePeriod are ['memory.available','nodefs.available','nodefs.inodesFree','imagefs.available','imagefs.inodesFree','pid.available']",rule="self.all(k, k in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])"
	// +optional
	EvictionSoftGracePeriod map[string]metav1.Duration `json:"evictionSoftGracePeriod,omitempty"`
	// evictionMaxPodGracePeriod bounds, in seconds, the time that a pod is given to stop at a soft eviction.
	// +optional
	EvictionMaxPodGracePeriod *int32 `json:"evictionMaxPodGracePeriod,omitempty"`
	// imageGCHighThresholdPercent is the disk usage at which images are collected.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	ImageGCHighThresholdPercent *int32 `json:"imageGCHighThresholdPercent,omitempty"`
	// imageGCLowThresholdPercent is the disk usage at which collecting images ends.
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	ImageGCLowThresholdPercent *int32 `json:"imageGCLowThresholdPercent,omitempty"`
	// cpuCFSQuota enforces CPU limits.
	// +optional
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty"`

	// Extra holds the fields that are not listed above, as JSON.
	Extra map[string]json.RawMessage `json:"-"`

	// Problem says what is wrong with evictionSoftGracePeriod, which is in Extra then; "" for nothing. The
	// API server's schema may let any text pass there, and an object that cannot be read keeps all of its
	// kind from being read.
	Problem string `json:"-"`

	// Source is the JSON that the configuration was read from, nil when it was not read. The drift hash is
	// made of it, because Karpenter hashes what the API server stores, the spelling of durations included.
	Source json.RawMessage `json:"-"`
}

// kubeletFields has the fields of KubeletConfiguration and none of its methods.
type kubeletFields KubeletConfiguration

// UnmarshalJSON implements json.Unmarshaler.
func (k *KubeletConfiguration) UnmarshalJSON(b []byte) error {
	var known kubeletFields
	var extra map[string]json.RawMessage
	if err := json.Unmarshal(b, &extra); err != nil {
		return fmt.Errorf("parse kubelet configuration: %w", err)
	}
	problem, readable := badPeriod(extra[softGracePeriods]), b
	if problem != "" {
		others := maps.Clone(extra)
		delete(others, softGracePeriods)
		var err error
		if readable, err = json.Marshal(others); err != nil {
			return fmt.Errorf("parse kubelet configuration: %w", err)
		}
	}
	if err := kjson.Unmarshal(readable, &known); err != nil {
		return fmt.Errorf("parse kubelet configuration: %w", err)
	}
	for f := range reflect.TypeFor[kubeletFields]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != softGracePeriods || problem == "" {
			delete(extra, name)
		}
	}
	known.Problem = problem
	if len(extra) > 0 {
		known.Extra = extra
	}
	known.Source = slices.Clone(b)
	*k = KubeletConfiguration(known)
	return nil
}

const softGracePeriods = "evictionSoftGracePeriod"

// badPeriod returns a message about the first grace period of soft evictions, by signal, that is not a duration,
// and "" for none. Of what is no mapping of texts the decoder says what is wrong.
func badPeriod(raw json.RawMessage) string {
	var periods map[string]string
	if err := json.Unmarshal(raw, &periods); err != nil {
		return ""
	}
	for _, signal := range slices.Sorted(maps.Keys(periods)) {
		if _, err := time.ParseDuration(periods[signal]); err != nil {
			return fmt.Sprintf("%s.%s: %q is not a duration such as 90s or 1h30m", softGracePeriods, signal, periods[signal])
		}
	}
	return ""
}

// MarshalJSON implements json.Marshaler.
func (k KubeletConfiguration) MarshalJSON() ([]byte, error) {
	known, err := json.Marshal(kubeletFields(k))
	if err != nil || len(k.Extra) == 0 {
		return known, err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(known, &all); err != nil {
		return nil, err
	}
	for name, value := range k.Extra {
		if _, ok := all[name]; !ok {
			all[name] = value
		}
	}
	return json.Marshal(all)
}
