package v1

// Event reasons of the AWS provider.
const (
	EventSpotInterrupted                        = "SpotInterrupted"
	EventSpotRebalanceRecommendation            = "SpotRebalanceRecommendation"
	EventInstanceStopping                       = "InstanceStopping"
	EventInstanceTerminating                    = "InstanceTerminating"
	EventInstanceUnhealthy                      = "InstanceUnhealthy"
	EventCapacityReservationInstanceInterrupted = "CapacityReservationInstanceInterrupted"
	EventTerminatingOnInterruption              = "TerminatingOnInterruption"
	EventWaitingOnNodeClaimTermination          = "WaitingOnNodeClaimTermination"
	EventMarketStale                            = "MarketStale"
	EventMarketRefreshed                        = "MarketRefreshed"
	EventZonalShiftActive                       = "ZonalShiftActive"
	EventZonalShiftCleared                      = "ZonalShiftCleared"
)
