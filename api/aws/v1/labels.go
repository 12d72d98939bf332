package v1

// Labels that the provider puts on nodes and offers to requirements.
const (
	// LabelEC2NodeClass names the EC2NodeClass of a node.
	LabelEC2NodeClass = Group + "/ec2nodeclass"

	LabelInstanceHypervisor                   = Group + "/instance-hypervisor"
	LabelInstanceEncryptionInTransitSupported = Group + "/instance-encryption-in-transit-supported"
	LabelInstanceCategory                     = Group + "/instance-category"
	LabelInstanceFamily                       = Group + "/instance-family"
	LabelInstanceGeneration                   = Group + "/instance-generation"
	LabelInstanceSize                         = Group + "/instance-size"
	LabelInstanceCPU                          = Group + "/instance-cpu"
	LabelInstanceCPUManufacturer              = Group + "/instance-cpu-manufacturer"
	LabelInstanceCPUSustainedClockSpeedMhz    = Group + "/instance-cpu-sustained-clock-speed-mhz"
	LabelInstanceMemory                       = Group + "/instance-memory"            // MiB
	LabelInstanceEBSBandwidth                 = Group + "/instance-ebs-bandwidth"     // Mbit/s
	LabelInstanceNetworkBandwidth             = Group + "/instance-network-bandwidth" // Mbit/s
	LabelInstanceGPUName                      = Group + "/instance-gpu-name"
	LabelInstanceGPUManufacturer              = Group + "/instance-gpu-manufacturer"
	LabelInstanceGPUCount                     = Group + "/instance-gpu-count"
	LabelInstanceGPUMemory                    = Group + "/instance-gpu-memory" // MiB
	LabelInstanceAcceleratorName              = Group + "/instance-accelerator-name"
	LabelInstanceAcceleratorManufacturer      = Group + "/instance-accelerator-manufacturer"
	LabelInstanceAcceleratorCount             = Group + "/instance-accelerator-count"
	LabelInstanceLocalNVME                    = Group + "/instance-local-nvme" // GiB
	LabelInstanceTenancy                      = Group + "/instance-tenancy"
	LabelInstanceCapabilityFlex               = Group + "/instance-capability-flex"

	LabelNitroSandbox                     = Group + "/nitro-sandbox"
	LabelCapacityReservationID            = Group + "/capacity-reservation-id"
	LabelCapacityReservationType          = Group + "/capacity-reservation-type"
	LabelCapacityReservationInterruptible = Group + "/capacity-reservation-interruptible"
	LabelPlacementGroupID                 = Group + "/placement-group-id"
	LabelPlacementGroupPartition          = Group + "/placement-group-partition"

	// LabelTopologyZoneID is the zone's id (usw2-az1), the same in every account.
	LabelTopologyZoneID = "topology.k8s.aws/zone-id"
)

// Annotations of the provider.
const (
	// AnnotationEC2NodeClassHash is the hash of an EC2NodeClass's static fields; see EC2NodeClass.Hash.
	AnnotationEC2NodeClassHash = Group + "/ec2nodeclass-hash"
	// AnnotationEC2NodeClassHashVersion says how AnnotationEC2NodeClassHash was computed.
	AnnotationEC2NodeClassHashVersion = Group + "/ec2nodeclass-hash-version"
	// AnnotationInstanceTagged is "true" on a NodeClaim whose instance bears the claim's tags.
	AnnotationInstanceTagged = Group + "/tagged"
	// AnnotationInstanceProfile is the instance profile a NodeClaim was launched with.
	AnnotationInstanceProfile = Group + "/instance-profile-name"
)

// FinalizerTermination holds an EC2NodeClass until no NodeClaim uses it.
const FinalizerTermination = Group + "/termination"

// WellKnownLabels lists the label keys that the provider offers to requirements,
// beyond those of the karpenter.sh API.
func WellKnownLabels() []string {
	return []string{
		LabelEC2NodeClass,
		LabelInstanceHypervisor, LabelInstanceEncryptionInTransitSupported,
		LabelInstanceCategory, LabelInstanceFamily, LabelInstanceGeneration, LabelInstanceSize,
		LabelInstanceCPU, LabelInstanceCPUManufacturer, LabelInstanceCPUSustainedClockSpeedMhz,
		LabelInstanceMemory, LabelInstanceEBSBandwidth, LabelInstanceNetworkBandwidth,
		LabelInstanceGPUName, LabelInstanceGPUManufacturer, LabelInstanceGPUCount, LabelInstanceGPUMemory,
		LabelInstanceAcceleratorName, LabelInstanceAcceleratorManufacturer, LabelInstanceAcceleratorCount,
		LabelInstanceLocalNVME, LabelInstanceTenancy, LabelInstanceCapabilityFlex,
		LabelNitroSandbox,
		LabelCapacityReservationID, LabelCapacityReservationType, LabelCapacityReservationInterruptible,
		LabelPlacementGroupID, LabelPlacementGroupPartition,
		LabelTopologyZoneID,
	}
}
