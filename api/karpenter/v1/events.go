package v1

// Event reasons on pods, about scheduling and eviction.
const (
	EventNominated                      = "Nominated"
	EventFailedScheduling               = "FailedScheduling"
	EventEvicted                        = "Evicted"
	EventDisrupted                      = "Disrupted"
	EventDoNotDisruptUntil              = "DoNotDisruptUntil"
	EventDoNotDisruptGracePeriodElapsed = "DoNotDisruptGracePeriodElapsed"
	EventInvalidDoNotDisruptAnnotation  = "InvalidDoNotDisruptAnnotation"
	EventNoCompatibleInstanceTypes      = "NoCompatibleInstanceTypes" // on NodePools
	EventInsufficientCapacityError      = "InsufficientCapacityError" // on NodeClaims
	EventNodeClassNotReady              = "NodeClassNotReady"         // on NodeClaims
	EventReservationLeft                = "ReservationLeft"           // on Nodes; Spokeshave's own
	EventUnregisteredTaintMissing       = "UnregisteredTaintMissing"  // on NodeClaims
	EventFailedConsistencyCheck         = "FailedConsistencyCheck"    // on NodeClaims
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
