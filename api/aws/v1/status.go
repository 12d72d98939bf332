package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EC2NodeClassStatus is what the selectors of the spec resolve to.
type EC2NodeClassStatus struct {
	// subnets are the subnets that instances may be launched in.
	// +optional
	Subnets []Subnet `json:"subnets,omitempty"`
	// securityGroups are the security groups of the instances.
	// +optional
	SecurityGroups []SecurityGroup `json:"securityGroups,omitempty"`
	// capacityReservations are the reservations that instances may be launched into.
	// +optional
	CapacityReservations []CapacityReservation `json:"capacityReservations,omitempty"`
	// amis are the machine images, newest first, and the instances that each one fits.
	// +optional
	AMIs []AMI `json:"amis,omitempty"`
	// instanceProfile is the instance profile of the nodes.
	// +optional
	InstanceProfile string `json:"instanceProfile,omitempty"`
	// conditions say whether the class can be used, and why not.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Subnet is a subnet that instances may be launched in.
type Subnet struct {
	// id is the subnet's id.
	// +required
	ID string `json:"id"`
	// zone is the subnet's availability zone.
	// +required
	Zone string `json:"zone"`
	// zoneID is the id of that zone, the same in every account.
	// +optional
	ZoneID string `json:"zoneID,omitempty"`
}

// SecurityGroup is a security group of the instances.
type SecurityGroup struct {
	// id is the group's id.
	// +required
	ID string `json:"id"`
	// name is the group's name.
	// +optional
	Name string `json:"name,omitempty"`
}

// AMI is a machine image and the instances it fits.
type AMI struct {
	// id is the image's id.
	// +required
	ID string `json:"id"`
	// deprecated says that the image's owner has deprecated it.
	// +optional
	Deprecated bool `json:"deprecated,omitempty"`
	// name is the image's name.
	// +optional
	Name string `json:"name,omitempty"`
	// requirements are the labels of the instances that the image fits, such as their architecture.
	// +required
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
}

// CapacityReservation is a reservation that instances may be launched into.
type CapacityReservation struct {
	// availabilityZone is the zone of the reservation.
	// +required
	AvailabilityZone string `json:"availabilityZone"`
	// endTime is when the reservation ends, if it does.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`
	// id is the reservation's id.
	// +kubebuilder:validation:Pattern=`^cr-[0-9a-z]+$`
	// +required
	ID string `json:"id"`
	// instanceMatchCriteria is how the reservation takes in instances.
	// +kubebuilder:validation:Enum=open;targeted
	// +required
	InstanceMatchCriteria string `json:"instanceMatchCriteria"`
	// instanceType is the type of instance reserved.
	// +required
	InstanceType string `json:"instanceType"`
	// ownerID is the account that owns the reservation.
	// +kubebuilder:validation:Pattern=`^[0-9]{12}$`
	// +required
	OwnerID string `json:"ownerID"`
	// reservationType is the kind of reservation.
	// +kubebuilder:default=default
	// +kubebuilder:validation:Enum=default;capacity-block
	// +optional
	ReservationType string `json:"reservationType,omitempty"`
	// interruptible says that EC2 may take the capacity back.
	// +optional
	Interruptible bool `json:"interruptible,omitempty"`
	// state is expiring once EC2 has begun to take a capacity block back.
	// +kubebuilder:default=active
	// +kubebuilder:validation:Enum=active;expiring
	// +optional
	State string `json:"state,omitempty"`
}

// Values of CapacityReservation.ReservationType and CapacityReservation.State.
const (
	ReservationTypeDefault       = "default"
	ReservationTypeCapacityBlock = "capacity-block"
	ReservationStateActive       = "active"
	ReservationStateExpiring     = "expiring"
)
