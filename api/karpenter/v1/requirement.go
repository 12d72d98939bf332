package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// Operators that a Requirement has beyond those of a node selector.
const (
	NodeSelectorOpGte corev1.NodeSelectorOperator = "Gte"
	NodeSelectorOpLte corev1.NodeSelectorOperator = "Lte"
)

// Requirement restricts the values that one node label may take.
type Requirement struct {
	// key is the node label that the requirement is about.
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	// +kubebuilder:validation:XValidation:message="label domain \"karpenter.sh\" is restricted",rule="self in ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool'] || !self.matches('^([^/]+[.])?karpenter[.]sh/')"
	// +kubebuilder:validation:XValidation:message="label domain \"karpenter.k8s.aws\" is restricted to the labels that the provider sets",rule="!self.matches('^([^/]+[.])?karpenter[.]k8s[.]aws/') || self.matches('^karpenter[.]k8s[.]aws/(ec2nodeclass|nitro-sandbox|capacity-reservation-(id|type|interruptible)|placement-group-(id|partition)|instance-(hypervisor|encryption-in-transit-supported|category|family|generation|size|cpu|cpu-manufacturer|cpu-sustained-clock-speed-mhz|memory|ebs-bandwidth|network-bandwidth|gpu-name|gpu-manufacturer|gpu-count|gpu-memory|accelerator-name|accelerator-manufacturer|accelerator-count|local-nvme|tenancy|capability-flex))$')"
	// +kubebuilder:validation:XValidation:message="label \"kubernetes.io/hostname\" is restricted",rule="self != 'kubernetes.io/hostname'"
	// +required
	Key string `json:"key"`

	// operator relates the label to values. In and NotIn take a list of values, Exists and DoesNotExist
	// none, and Gt, Lt, Gte and Lte one value, read as an integer.
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist;Gt;Lt;Gte;Lte
	// +required
	Operator corev1.NodeSelectorOperator `json:"operator"`

	// values are what operator compares the label with.
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
	// +listType=atomic
	// +optional
	Values []string `json:"values,omitempty"`

	// minValues is how many distinct values of the label a launch request must keep open, so that the
	// cloud has a choice. This field is alpha.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=50
	// +optional
	MinValues *int `json:"minValues,omitempty"`
}

// NodeClassReference names the provider-specific configuration of a node.
type NodeClassReference struct {
	// group is the API group of the referent, such as karpenter.k8s.aws.
	// +kubebuilder:validation:Pattern=`^[^/]*$`
	// +kubebuilder:validation:XValidation:message="group may not be empty",rule="self != ''"
	// +required
	Group string `json:"group"`

	// kind is the kind of the referent, such as EC2NodeClass.
	// +kubebuilder:validation:XValidation:message="kind may not be empty",rule="self != ''"
	// +required
	Kind string `json:"kind"`

	// name is the name of the referent.
	// +kubebuilder:validation:XValidation:message="name may not be empty",rule="self != ''"
	// +required
	Name string `json:"name"`
}
