package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodePool describes the nodes that may be launched for pods that do not fit
// on the nodes there are, and how those nodes may be disrupted.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=nodepools,scope=Cluster,categories=karpenter
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.nodes
// +kubebuilder:printcolumn:name="NodeClass",type=string,JSONPath=`.spec.template.spec.nodeClassRef.name`
// +kubebuilder:printcolumn:name="Nodes",type=string,JSONPath=`.status.nodes`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Weight",type=integer,priority=1,JSONPath=`.spec.weight`
// +kubebuilder:printcolumn:name="CPU",type=string,priority=1,JSONPath=`.status.resources.cpu`
// +kubebuilder:printcolumn:name="Memory",type=string,priority=1,JSONPath=`.status.resources.memory`
type NodePool struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the pool's author wants.
	// +required
	Spec NodePoolSpec `json:"spec"`
	// status is what the controller found.
	// +optional
	Status NodePoolStatus `json:"status,omitzero"`
}

// NodePoolList is a list of NodePools.
//
// +kubebuilder:object:root=true
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NodePool `json:"items"`
}

// NodePoolSpec is what a NodePool's author wants.
//
// +kubebuilder:validation:XValidation:message="a NodePool cannot change between static (replicas set) and dynamic (replicas not set)",rule="has(self.replicas) == has(oldSelf.replicas)"
// +kubebuilder:validation:XValidation:message="only 'limits.nodes' is supported on static NodePools",rule="!has(self.replicas) || !has(self.limits) || self.limits.all(k, k == 'nodes')"
// +kubebuilder:validation:XValidation:message="'weight' is not supported on static NodePools",rule="!has(self.replicas) || !has(self.weight)"
type NodePoolSpec struct {
	// template is what every NodeClaim of this pool starts from; a launch narrows it further.
	// +required
	Template NodeClaimTemplate `json:"template"`

	// disruption says when nodes of this pool may be disrupted voluntarily.
	// +kubebuilder:default={consolidateAfter: "0s"}
	// +optional
	Disruption Disruption `json:"disruption,omitzero"`

	// limits bound the resources of the pool's nodes together; nodes bounds their number. A pool at its
	// limit launches nothing. Static pools support nodes only.
	// +optional
	Limits Limits `json:"limits,omitempty"`

	// weight orders pools: those with a higher weight are tried first, and a pool without one counts as
	// weight 0. Not supported on static pools.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Weight *int32 `json:"weight,omitempty"`

	// replicas makes the pool static: it keeps this many nodes whatever the pods ask for, is never
	// consolidated, and accepts neither weight nor limits other than nodes. This field is alpha.
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas *int64 `json:"replicas,omitempty"`
}

// Limits bounds the sum of a pool's nodes, per resource; "nodes" counts them.
type Limits ResourceList

// LimitNodes is the key in Limits that bounds the number of nodes.
const LimitNodes corev1.ResourceName = "nodes"

// NodePoolStatus is what the controller found about a NodePool.
type NodePoolStatus struct {
	// resources is the sum of the capacity of the pool's nodes.
	// +optional
	Resources ResourceList `json:"resources,omitempty"`

	// nodes is how many nodes the pool has.
	// +kubebuilder:default=0
	// +optional
	Nodes int64 `json:"nodes,omitempty"`

	// nodeClassObservedGeneration is the generation of the NodeClass that NodeRegistrationHealthy speaks
	// of; when the NodeClass moves on, that condition starts again.
	// +optional
	NodeClassObservedGeneration int64 `json:"nodeClassObservedGeneration,omitempty"`

	// conditions say whether the pool can be used, and why not.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
