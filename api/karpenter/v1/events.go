package v1

// Event reasons that Karpenter has, too.
const (
	EventNominated                      = "Nominated"
	EventFailedScheduling               = "FailedScheduling"
	EventEvicted                        = "Evicted"
	EventDisrupted                      = "Disrupted"
	EventDoNotDisruptUntil              = "DoNotDisruptUntil"
	EventDoNotDisruptGracePeriodElapsed = "DoNotDisruptGracePeriodElapsed"
	EventInvalidDoNotDisruptAnnotation  = "InvalidDoNotDisruptAnnotation"
	EventNodeClaimRefused               = "NodeClaimRefused"          // on NodePools
	EventNoCompatibleInstanceTypes      = "NoCompatibleInstanceTypes" // on NodePools
	EventInsufficientCapacityError      = "InsufficientCapacityError" // on NodeClaims
	EventNodeClassNotReady              = "NodeClassNotReady"         // on NodeClaims
	EventUnregisteredTaintMissing       = "UnregisteredTaintMissing"  // on NodeClaims
	EventFailedConsistencyCheck         = "FailedConsistencyCheck"    // on NodeClaims
	EventNodeIdentityMismatch           = "NodeIdentityMismatch"      // on Nodes; Spokeshave's own
	EventPriceUnknown                   = "PriceUnknown"              // on NodeClaims, Nodes; Spokeshave's own
	EventNodeRepairBlocked              = "NodeRepairBlocked"
	EventFailedDraining                 = "FailedDraining"
	EventFailedTermination              = "FailedTermination"
	EventAwaitingVolumeDetachment       = "AwaitingVolumeDetachment"
	EventTerminationGracePeriodExpiring = "TerminationGracePeriodExpiring"
	EventDisruptionBlocked              = "DisruptionBlocked"
	EventDisruptionLaunching            = "DisruptionLaunching"
	EventDisruptionTerminating          = "DisruptionTerminating"
	EventDisruptionWaitingReadiness     = "DisruptionWaitingReadiness"
	EventUnconsolidatable               = "Unconsolidatable"
	EventConsolidationCandidate         = "ConsolidationCandidate"
	EventConsolidationApproved          = "ConsolidationApproved"
	EventConsolidationRejected          = "ConsolidationRejected"
)

// Event reasons of Spokeshave's own.
const (
	EventCapReached         = "CapReached"         // on ConfigMaps of policies
	EventDisruptionAllowed  = "DisruptionAllowed"  // on the ConfigMap of the breakers
	EventDisruptionStopped  = "DisruptionStopped"  // on the ConfigMap of the breakers
	EventPolicyActive       = "PolicyActive"       // on ConfigMaps of policies
	EventPolicyRejected     = "PolicyRejected"     // on ConfigMaps of policies
	EventPolicySuspended    = "PolicySuspended"    // on ConfigMaps of policies
	EventPolicyResumed      = "PolicyResumed"      // on ConfigMaps of policies
	EventPolicyNotSuspended = "PolicyNotSuspended" // on ConfigMaps of policies
	EventLedgerAccepted     = "LedgerAccepted"     // on the ledger's ConfigMap
	EventLedgerLost         = "LedgerLost"         // on the ledger's ConfigMap
	EventObservationLost    = "ObservationLost"    // on the ConfigMap of mode Observe
	// EventAdmissionPolicyMissing is on the policy that the chart installs.
	EventAdmissionPolicyMissing = "AdmissionPolicyMissing"
	EventRecordRefused          = "RecordRefused"       // on ConfigMaps that the controller writes
	EventLaunchFailed           = "LaunchFailed"        // on NodeClaims
	EventLaunchTimeout          = "LaunchTimeout"       // on NodeClaims
	EventLaunchesPaused         = "LaunchesPaused"      // on NodePools
	EventQuotaExceeded          = "QuotaExceeded"       // on NodePools
	EventRegistrationTimeout    = "RegistrationTimeout" // on NodeClaims
	EventReservationLeft        = "ReservationLeft"     // on Nodes
)
