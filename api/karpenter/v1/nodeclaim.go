package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeClaim is one node: asked for, launched, joined, and in the end drained and terminated.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=nodeclaims,scope=Cluster,categories=karpenter
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.metadata.labels.node\.kubernetes\.io/instance-type`
// +kubebuilder:printcolumn:name="Capacity",type=string,JSONPath=`.metadata.labels.karpenter\.sh/capacity-type`
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.metadata.labels.topology\.kubernetes\.io/zone`
// +kubebuilder:printcolumn:name="Node",type=string,JSONPath=`.status.nodeName`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="ImageID",type=string,priority=1,JSONPath=`.status.imageID`
// +kubebuilder:printcolumn:name="ID",type=string,priority=1,JSONPath=`.status.providerID`
// +kubebuilder:printcolumn:name="NodePool",type=string,priority=1,JSONPath=`.metadata.labels.karpenter\.sh/nodepool`
// +kubebuilder:printcolumn:name="NodeClass",type=string,priority=1,JSONPath=`.spec.nodeClassRef.name`
// +kubebuilder:printcolumn:name="Drifted",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Drifted")].status`
type NodeClaim struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what was asked for. It cannot change.
	// +kubebuilder:validation:XValidation:message="spec is immutable",rule="self == oldSelf"
	// +required
	Spec NodeClaimSpec `json:"spec"`
	// status is what became of it.
	// +optional
	Status NodeClaimStatus `json:"status,omitzero"`
}

// NodeClaimList is a list of NodeClaims.
//
// +kubebuilder:object:root=true
type NodeClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodeClaim `json:"items"`
}

// NodeClaimSpec is what was asked for.
type NodeClaimSpec struct {
	// taints are put on the node; pods need a matching toleration.
	// +listType=atomic
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`

	// startupTaints are put on the node when it joins and are expected to be lifted soon by someone else.
	// +listType=atomic
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`

	// requirements restrict the labels, and so the instance type, zone and capacity type, of the node.
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:message="requirements with operator 'In' must have a value defined",rule="self.all(r, r.operator != 'In' || (has(r.values) && r.values.size() > 0))"
	// +kubebuilder:validation:XValidation:message="requirements with operator 'Gt', 'Lt', 'Gte' or 'Lte' must have one value, an integer that is not negative",rule="self.all(r, !(r.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || (has(r.values) && r.values.size() == 1 && r.values[0].matches('^[0-9]+$')))"
	// +kubebuilder:validation:XValidation:message="requirements with operator 'In' must have at least 'minValues' values",rule="self.all(r, r.operator != 'In' || !has(r.minValues) || (has(r.values) && r.values.size() >= r.minValues))"
	// +listType=atomic
	// +required
	Requirements []Requirement `json:"requirements"`

	// resources are what the pods planned for the node need.
	// +optional
	Resources ResourceRequirements `json:"resources,omitzero"`

	// nodeClassRef names the provider-specific configuration of the node.
	// +required
	NodeClassRef NodeClassReference `json:"nodeClassRef"`

	// terminationGracePeriod is how long the drain may take; see NodePool.
	// +kubebuilder:validation:Pattern=`^([0-9]+(s|m|h))+$`
	// +kubebuilder:validation:Type=string
	// +optional
	TerminationGracePeriod *Duration `json:"terminationGracePeriod,omitempty"`

	// expireAfter is the age at which the node is drained; Never keeps it.
	// +kubebuilder:default="720h"
	// +optional
	ExpireAfter NillableDuration `json:"expireAfter,omitempty"`
}

// ResourceRequirements are what the pods planned for a node need.
type ResourceRequirements struct {
	// requests is the sum of the pods' requests, daemons included.
	// +optional
	Requests ResourceList `json:"requests,omitempty"`
}

// NodeClaimStatus is what became of a NodeClaim.
type NodeClaimStatus struct {
	// nodeName is the name of the node.
	// +optional
	NodeName string `json:"nodeName,omitempty"`

	// providerID is the instance, as the node's spec.providerID names it.
	// +optional
	ProviderID string `json:"providerID,omitempty"`

	// imageID is the machine image that the instance runs.
	// +optional
	ImageID string `json:"imageID,omitempty"`

	// capacity is the node's estimated capacity.
	// +optional
	Capacity ResourceList `json:"capacity,omitempty"`

	// allocatable is the part of capacity that pods may use, as estimated.
	// +optional
	Allocatable ResourceList `json:"allocatable,omitempty"`

	// conditions say how far the claim has come.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// lastPodEventTime is when a pod was last bound to the node or left it; ending counts as leaving.
	// +optional
	LastPodEventTime *metav1.Time `json:"lastPodEventTime,omitempty"`
}
