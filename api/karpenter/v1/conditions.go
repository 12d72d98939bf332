package v1

// ConditionReady is the summary condition of NodePool and NodeClaim: true when all
// conditions are that the kind needs; see ReadyConditions.
const ConditionReady = "Ready"

// Condition types of NodePool.
const (
	// ConditionValidationSucceeded is false when the API server accepts the spec and
	// the controller still cannot use it.
	ConditionValidationSucceeded = "ValidationSucceeded"
	// ConditionNodeClassReady mirrors the Ready condition of the referenced NodeClass.
	ConditionNodeClassReady = "NodeClassReady"
	// ConditionNodeRegistrationHealthy says whether the pool's recent launches became nodes.
	ConditionNodeRegistrationHealthy = "NodeRegistrationHealthy"
	// ConditionNodeClaimsAccepted is false when the API server refused the last NodeClaim
	// that was to be made from the pool.
	ConditionNodeClaimsAccepted = "NodeClaimsAccepted"
)

// Condition types of NodeClaim.
const (
	// ConditionLaunched: the provider has an instance for the claim.
	ConditionLaunched = "Launched"
	// ConditionRegistered: the instance's node has joined and been labelled.
	ConditionRegistered = "Registered"
	// ConditionInitialized: the node is ready, complete and free of startup taints.
	ConditionInitialized = "Initialized"
	// ConditionConsolidatable: no pod event for consolidateAfter.
	ConditionConsolidatable = "Consolidatable"
	// ConditionDrifted: the claim no longer matches its NodePool or NodeClass; the reason says how.
	ConditionDrifted = "Drifted"
	// ConditionDrained: every pod that can be drained has left the node; false when
	// some were left at the termination deadline.
	ConditionDrained = "Drained"
	// ConditionVolumesDetached: the node has no volume attachment that termination
	// waits for; false when some were left at the termination deadline.
	ConditionVolumesDetached = "VolumesDetached"
	// ConditionInstanceTerminating: the provider was asked to terminate the instance.
	ConditionInstanceTerminating = "InstanceTerminating"
	// ConditionConsistentStateFound: the node has the capacity that its claim states.
	ConditionConsistentStateFound = "ConsistentStateFound"
	// ConditionDisruptionReason: the claim is being disrupted; the reason says why.
	ConditionDisruptionReason = "DisruptionReason"
)

// Reasons of ConditionDisruptionReason that are notices: EC2 terminates the instance at
// the time of AnnotationTerminationTimestamp in any case.
const (
	NoticeSpot          = "SpotInterrupted"
	NoticeReservation   = "CapacityReservationInterrupted"
	NoticeCapacityBlock = "CapacityBlockEnding"
)

// Reasons of ConditionDrifted that this API defines; providers add their own.
const (
	DriftNodePool             = "NodePoolDrifted"
	DriftRequirements         = "RequirementsDrifted"
	DriftInstanceTypeNotFound = "InstanceTypeNotFound"
)

// ReadyConditions lists the conditions that make a NodePool Ready.
func (*NodePool) ReadyConditions() []string {
	return []string{ConditionValidationSucceeded, ConditionNodeClassReady}
}

// ReadyConditions lists the conditions that make a NodeClaim Ready.
func (*NodeClaim) ReadyConditions() []string {
	return []string{ConditionLaunched, ConditionRegistered, ConditionInitialized}
}
