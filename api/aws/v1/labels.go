package v1

// Labels that the provider puts on nodes and offers to requirements.
const (
	// LabelEC2NodeClass names the EC2NodeClass of a node.
	LabelEC2NodeClass = Group + "/ec2nodeclass"

	LabelInstanceHypervisor                   = Group + "/instance-hypervisor"                      // nitro or xen; present and empty on bare metal
	LabelInstanceEncryptionInTransitSupported = Group + "/instance-encryption-in-transit-supported" // true or false: traffic between such instances is encrypted
	LabelInstanceCategory                     = Group + "/instance-category"                        // the letters before the generation: m, c, r, g
	LabelInstanceFamily                       = Group + "/instance-family"                          // m7g, of m7g.large
	LabelInstanceGeneration                   = Group + "/instance-generation"                      // 7, of m7g.large
	LabelInstanceSize                         = Group + "/instance-size"                            // large, of m7g.large
	LabelInstanceCPU                          = Group + "/instance-cpu"                             // virtual CPUs
	LabelInstanceCPUManufacturer              = Group + "/instance-cpu-manufacturer"                // aws, amd or intel
	LabelInstanceCPUSustainedClockSpeedMhz    = Group + "/instance-cpu-sustained-clock-speed-mhz"   // MHz
	LabelInstanceMemory                       = Group + "/instance-memory"                          // MiB, as EC2 advertises them
	LabelInstanceEBSBandwidth                 = Group + "/instance-ebs-bandwidth"                   // Mbit/s, at most
	LabelInstanceNetworkBandwidth             = Group + "/instance-network-bandwidth"               // Mbit/s, baseline
	LabelInstanceGPUName                      = Group + "/instance-gpu-name"                        // t4, l40s; absent without GPUs, like the next three
	LabelInstanceGPUManufacturer              = Group + "/instance-gpu-manufacturer"                // nvidia, amd
	LabelInstanceGPUCount                     = Group + "/instance-gpu-count"                       // number of GPUs
	LabelInstanceGPUMemory                    = Group + "/instance-gpu-memory"                      // MiB of each GPU
	LabelInstanceAcceleratorName              = Group + "/instance-accelerator-name"                // inferentia; absent without accelerators, like the next two
	LabelInstanceAcceleratorManufacturer      = Group + "/instance-accelerator-manufacturer"        // aws, habana
	LabelInstanceAcceleratorCount             = Group + "/instance-accelerator-count"               // number of accelerators
	LabelInstanceLocalNVME                    = Group + "/instance-local-nvme"                      // GB of local disks; absent without
	LabelInstanceTenancy                      = Group + "/instance-tenancy"                         // default, or dedicated where pods or NodePool ask for it
	LabelInstanceCapabilityFlex               = Group + "/instance-capability-flex"                 // true or false: the family ends in -flex

	LabelNitroSandbox                     = Group + "/nitro-sandbox"                      // always false: no source says which types have it
	LabelCapacityReservationID            = Group + "/capacity-reservation-id"            // the reservation of a reserved instance
	LabelCapacityReservationType          = Group + "/capacity-reservation-type"          // default or capacity-block
	LabelCapacityReservationInterruptible = Group + "/capacity-reservation-interruptible" // true or false: EC2 may take the capacity back
	LabelPlacementGroupID                 = Group + "/placement-group-id"                 // the placement group of the instance
	LabelPlacementGroupPartition          = Group + "/placement-group-partition"          // its number in a placement group with partitions

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
