package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// MetadataOptions say how the instance metadata service may be reached.
type MetadataOptions struct {
	// httpEndpoint turns the service on or off.
	// +kubebuilder:default=enabled
	// +kubebuilder:validation:Enum=enabled;disabled
	// +optional
	HTTPEndpoint *string `json:"httpEndpoint,omitempty"`
	// httpProtocolIPv6 turns its IPv6 address on or off.
	// +kubebuilder:default=disabled
	// +kubebuilder:validation:Enum=enabled;disabled
	// +optional
	HTTPProtocolIPv6 *string `json:"httpProtocolIPv6,omitempty"`
	// httpPutResponseHopLimit is how many network hops a token may travel; 1 keeps it from pods.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +optional
	HTTPPutResponseHopLimit *int64 `json:"httpPutResponseHopLimit,omitempty"`
	// httpTokens says whether a session token (version 2 of the service) is required.
	// +kubebuilder:default=required
	// +kubebuilder:validation:Enum=required;optional
	// +optional
	HTTPTokens *string `json:"httpTokens,omitempty"`
}

// CPUOptions are an instance's CPU options.
type CPUOptions struct {
	// nestedVirtualization turns nested virtualization on or off; on, it leaves only instance types that have it.
	// +kubebuilder:validation:Enum=enabled;disabled
	// +optional
	NestedVirtualization *string `json:"nestedVirtualization,omitempty"`
}

// ConnectionTracking sets how long idle connections are tracked, in seconds.
// What is left out keeps EC2's default.
//
// +kubebuilder:validation:XValidation:message="at least one of tcpEstablishedTimeout, udpStreamTimeout, or udpTimeout must be set",rule="has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)"
type ConnectionTracking struct {
	// tcpEstablishedTimeout is for established TCP connections.
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=432000
	// +optional
	TCPEstablishedTimeout *int32 `json:"tcpEstablishedTimeout,omitempty"`
	// udpStreamTimeout is for UDP flows with more than one request and answer.
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=180
	// +optional
	UDPStreamTimeout *int32 `json:"udpStreamTimeout,omitempty"`
	// udpTimeout is for UDP flows in one direction, or with a single request and answer.
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=60
	// +optional
	UDPTimeout *int32 `json:"udpTimeout,omitempty"`
}

// NetworkInterface is one network interface of an instance.
type NetworkInterface struct {
	// networkCardIndex is the network card that the interface is attached to.
	// +kubebuilder:validation:Minimum=0
	// +required
	NetworkCardIndex int32 `json:"networkCardIndex"`
	// deviceIndex is the interface's place on that card.
	// +kubebuilder:validation:Minimum=0
	// +required
	DeviceIndex int32 `json:"deviceIndex"`
	// interfaceType is the kind of interface.
	// +required
	InterfaceType InterfaceType `json:"interfaceType"`
}

// InterfaceType is a kind of network interface.
//
// +kubebuilder:validation:Enum=interface;efa-only
type InterfaceType string

// The kinds of network interface.
const (
	InterfaceTypeInterface InterfaceType = "interface"
	InterfaceTypeEFAOnly   InterfaceType = "efa-only"
)

// InstanceStorePolicy says what becomes of local disks.
//
// +kubebuilder:validation:Enum=RAID0
type InstanceStorePolicy string

// InstanceStoreRAID0 joins the local disks into the node's ephemeral storage.
const InstanceStoreRAID0 InstanceStorePolicy = "RAID0"

// BlockDeviceMapping is one disk of an instance.
type BlockDeviceMapping struct {
	// deviceName is where the disk appears, such as /dev/xvda.
	// +optional
	DeviceName *string `json:"deviceName,omitempty"`
	// ebs is the volume.
	// +kubebuilder:validation:XValidation:message="snapshotID or volumeSize must be defined",rule="has(self.snapshotID) || has(self.volumeSize)"
	// +kubebuilder:validation:XValidation:message="snapshotID must be set when volumeInitializationRate is set",rule="!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != '')"
	// +optional
	EBS *BlockDevice `json:"ebs,omitempty"`
	// rootVolume marks the disk that holds the kubelet's directory, whose size is the node's ephemeral storage.
	// +optional
	RootVolume bool `json:"rootVolume,omitempty"`
}

// BlockDevice is an EBS volume.
type BlockDevice struct {
	// deleteOnTermination deletes the volume with its instance.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`
	// encrypted encrypts the volume; a volume made from a snapshot follows the snapshot.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
	// iops is the provisioned rate, for gp3, io1 and io2.
	// +optional
	IOPS *int64 `json:"iops,omitempty"`
	// kmsKeyID is the key to encrypt with: an id, an alias, or the ARN of either.
	// +optional
	KMSKeyID *string `json:"kmsKeyID,omitempty"`
	// snapshotID is the snapshot that the volume starts from.
	// +optional
	SnapshotID *string `json:"snapshotID,omitempty"`
	// throughput is the provisioned rate of a gp3 volume, in MiB/s.
	// +optional
	Throughput *int64 `json:"throughput,omitempty"`
	// volumeInitializationRate is the rate at which the snapshot is read in, in MiB/s.
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=300
	// +optional
	VolumeInitializationRate *int32 `json:"volumeInitializationRate,omitempty"`
	// volumeSize is the size, in Gi, G, Ti or T, at most 64T; smaller limits hold for most volume types.
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=7
	// +kubebuilder:validation:Pattern=`^[1-9][0-9]{0,4}(Gi|G|Ti|T)$`
	// +kubebuilder:validation:XValidation:message="volumeSize can be at most 64T",rule="quantity(self).compareTo(quantity('64T')) <= 0"
	// +optional
	VolumeSize *resource.Quantity `json:"volumeSize,omitempty" hash:"string"`
	// volumeType is the type of the volume.
	// +kubebuilder:validation:Enum=standard;io1;io2;gp2;sc1;st1;gp3
	// +optional
	VolumeType *string `json:"volumeType,omitempty"`
}
