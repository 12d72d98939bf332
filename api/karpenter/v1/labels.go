package v1

import (
	corev1 "k8s.io/api/core/v1"
)

// Labels on nodes and NodeClaims.
const (
	// LabelNodePool names the NodePool that a node or NodeClaim belongs to.
	LabelNodePool = Group + "/nodepool"
	// LabelCapacityType is how the capacity is bought: on-demand, spot or reserved.
	LabelCapacityType = Group + "/capacity-type"
	// LabelRegistered is "true" on a node whose NodeClaim has been matched to it.
	LabelRegistered = Group + "/registered"
	// LabelInitialized is "true" on a node that is ready, reports its resources and has
	// no startup taints left.
	LabelInitialized = Group + "/initialized"
	// LabelDoNotSyncTaints is "true" on a node whose taints the controller must not copy from its NodeClaim.
	LabelDoNotSyncTaints = Group + "/do-not-sync-taints"
)

// Values of LabelCapacityType.
const (
	CapacityTypeSpot     = "spot"
	CapacityTypeOnDemand = "on-demand"
	CapacityTypeReserved = "reserved"
)

// Values of kubernetes.io/arch.
const (
	ArchitectureAmd64 = "amd64"
	ArchitectureArm64 = "arm64"
)

// Annotations on pods, nodes, NodeClaims and NodePools.
const (
	// AnnotationDoNotDisrupt protects a pod or node from voluntary disruption:
	// "true" for good, or a duration counted from its start.
	AnnotationDoNotDisrupt = Group + "/do-not-disrupt"
	// AnnotationNodePoolHash is the hash of a NodePool's static fields; see NodePool.Hash.
	AnnotationNodePoolHash = Group + "/nodepool-hash"
	// AnnotationNodePoolHashVersion says how AnnotationNodePoolHash was computed.
	AnnotationNodePoolHashVersion = Group + "/nodepool-hash-version"
	// AnnotationTerminationTimestamp is the RFC 3339 time at which a draining node is terminated regardless of its pods.
	AnnotationTerminationTimestamp = Group + "/nodeclaim-termination-timestamp"
	// AnnotationMinValuesRelaxed is "true" on a NodeClaim launched with fewer distinct values than minValues asked for.
	AnnotationMinValuesRelaxed = Group + "/nodeclaim-min-values-relaxed"
	// AnnotationPriceOverlayApplied is "true" on a NodeClaim that Karpenter priced by a NodeOverlay. Nothing here writes it.
	AnnotationPriceOverlayApplied = Group + "/price-overlay-applied"
	// AnnotationCapacityOverlayApplied is "true" on a NodeClaim whose capacity a NodeOverlay of Karpenter's changed. Nothing here writes it.
	AnnotationCapacityOverlayApplied = Group + "/capacity-overlay-applied"
	// AnnotationRequestedDRADrivers lists, comma-separated, the dynamic resource drivers that a NodeClaim's pods need. Nothing here writes it.
	AnnotationRequestedDRADrivers = Group + "/requested-dra-drivers"
)

// FinalizerTermination keeps a NodePool, NodeClaim or node from being deleted until its
// instances are gone.
const FinalizerTermination = Group + "/termination"

// WellKnownLabels lists the label keys that a requirement may use although they
// lie in a restricted domain, plus the Kubernetes labels that every provider sets.
func WellKnownLabels() []string {
	return []string{
		LabelNodePool,
		LabelCapacityType,
		corev1.LabelTopologyZone,
		corev1.LabelTopologyRegion,
		corev1.LabelInstanceTypeStable,
		corev1.LabelArchStable,
		corev1.LabelOSStable,
		corev1.LabelWindowsBuild,
	}
}

// NormalizeLabel maps a deprecated label key to the key that replaced it, and
// returns every other key as it is.
func NormalizeLabel(key string) string {
	switch key {
	case corev1.LabelFailureDomainBetaZone:
		return corev1.LabelTopologyZone
	case corev1.LabelFailureDomainBetaRegion:
		return corev1.LabelTopologyRegion
	case corev1.LabelInstanceType:
		return corev1.LabelInstanceTypeStable
	case "beta.kubernetes.io/arch":
		return corev1.LabelArchStable
	case "beta.kubernetes.io/os":
		return corev1.LabelOSStable
	default:
		return key
	}
}
