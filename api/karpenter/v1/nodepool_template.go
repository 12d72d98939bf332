package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// NodeClaimTemplate is what every NodeClaim of a NodePool starts from.
type NodeClaimTemplate struct {
	// metadata is copied to the pool's NodeClaims and nodes.
	// +optional
	Metadata TemplateMeta `json:"metadata,omitzero"`
	// spec is copied to the pool's NodeClaims.
	// +required
	Spec NodeClaimTemplateSpec `json:"spec"`
}

// TemplateMeta is the part of an object's metadata that a template may set.
type TemplateMeta struct {
	// labels are put on every node of the pool, and count as requirements.
	// +kubebuilder:validation:MaxProperties=100
	// +kubebuilder:validation:XValidation:message="label domain \"karpenter.sh\" is restricted",rule="self.all(k, k in ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool'] || !k.matches('^([^/]+[.])?karpenter[.]sh/'))"
	// +kubebuilder:validation:XValidation:message="label \"karpenter.sh/nodepool\" is restricted",rule="!('karpenter.sh/nodepool' in self)"
	// +kubebuilder:validation:XValidation:message="label domain \"karpenter.k8s.aws\" is restricted to the labels that the provider sets",rule="self.all(k, !k.matches('^([^/]+[.])?karpenter[.]k8s[.]aws/') || k.matches('^karpenter[.]k8s[.]aws/(ec2nodeclass|nitro-sandbox|capacity-reservation-(id|type|interruptible)|placement-group-(id|partition)|instance-(hypervisor|encryption-in-transit-supported|category|family|generation|size|cpu|cpu-manufacturer|cpu-sustained-clock-speed-mhz|memory|ebs-bandwidth|network-bandwidth|gpu-name|gpu-manufacturer|gpu-count|gpu-memory|accelerator-name|accelerator-manufacturer|accelerator-count|local-nvme|tenancy|capability-flex))$'))"
	// +kubebuilder:validation:XValidation:message="label \"kubernetes.io/hostname\" is restricted",rule="!('kubernetes.io/hostname' in self)"
	// +mapType=atomic
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are put on every node of the pool.
	// +mapType=granular
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// NodeClaimTemplateSpec is the spec that a NodePool gives its NodeClaims: all of
// NodeClaimSpec but the resource requests, which follow from the pods.
type NodeClaimTemplateSpec struct {
	// taints are put on every node of the pool; pods need a matching toleration.
	// +listType=atomic
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`

	// startupTaints are put on every node of the pool when it joins and are expected to be lifted soon by
	// someone else, say a DaemonSet. Pods need not tolerate them to have a node launched.
	// +listType=atomic
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`

	// requirements restrict the labels, and so the instance types, zones and capacity types, of the nodes.
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:message="label \"karpenter.sh/nodepool\" is restricted",rule="self.all(r, r.key != 'karpenter.sh/nodepool')"
	// +kubebuilder:validation:XValidation:message="requirements with operator 'In' must have a value defined",rule="self.all(r, r.operator != 'In' || (has(r.values) && r.values.size() > 0))"
	// +kubebuilder:validation:XValidation:message="requirements with operator 'Gt', 'Lt', 'Gte' or 'Lte' must have one value, an integer that is not negative",rule="self.all(r, !(r.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || (has(r.values) && r.values.size() == 1 && r.values[0].matches('^[0-9]+$')))"
	// +kubebuilder:validation:XValidation:message="requirements with operator 'In' must have at least 'minValues' values",rule="self.all(r, r.operator != 'In' || !has(r.minValues) || (has(r.values) && r.values.size() >= r.minValues))"
	// +listType=atomic
	// +required
	Requirements []Requirement `json:"requirements"`

	// nodeClassRef names the provider-specific configuration of the nodes. Its group and kind cannot change.
	// +kubebuilder:validation:XValidation:message="nodeClassRef.group is immutable",rule="self.group == oldSelf.group"
	// +kubebuilder:validation:XValidation:message="nodeClassRef.kind is immutable",rule="self.kind == oldSelf.kind"
	// +required
	NodeClassRef NodeClassReference `json:"nodeClassRef"`

	// terminationGracePeriod is how long a drain may take, from the deletion of the node. When it ends,
	// pods are deleted whatever their disruption budgets and do-not-disrupt annotations say; a pod that
	// needs time to stop is deleted that much earlier. Without it a drain waits as long as it takes.
	// +kubebuilder:validation:Pattern=`^([0-9]+(s|m|h))+$`
	// +kubebuilder:validation:Type=string
	// +optional
	TerminationGracePeriod *Duration `json:"terminationGracePeriod,omitempty"`

	// expireAfter is the age at which a node is drained and replaced; Never keeps it.
	// +kubebuilder:default="720h"
	// +optional
	ExpireAfter NillableDuration `json:"expireAfter,omitempty"`
}
