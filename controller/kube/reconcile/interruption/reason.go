package interruption

import (
	awsv1 "spokeshave.dev/api/aws/v1"
	karpv1 "spokeshave.dev/api/karpenter/v1"
	"spokeshave.dev/controller/cloud/provider"
)

// disruptionReason holds the names of an event, and its message for users.
type disruptionReason struct {
	// event is the reason of the Kubernetes event, condition the reason in the claim's
	// condition DisruptionReason.
	event, condition, message string
	// notice says that EC2 takes the instance away at the event's deadline.
	notice bool
}

// reasonFor returns the reason for a kind of event; false for a kind that does not
// concern a node.
func reasonFor(kind provider.EventKind) (disruptionReason, bool) {
	switch kind {
	case provider.SpotInterrupted:
		return disruptionReason{awsv1.EventSpotInterrupted, karpv1.NoticeSpot, "EC2 takes the spot instance back", true}, true
	case provider.RebalanceRecommend:
		return disruptionReason{awsv1.EventSpotRebalanceRecommendation, "RebalanceRecommendation", "EC2 recommends to leave the spot instance: its interruption has become more likely", false}, true
	case provider.ScheduledChange:
		return disruptionReason{awsv1.EventInstanceUnhealthy, "ScheduledChange", "AWS Health announces a change of the instance", false}, true
	case provider.InstanceStopped:
		return disruptionReason{awsv1.EventInstanceStopping, "InstanceStopped", "the instance is stopped from outside of the cluster", false}, true
	case provider.InstanceTerminated:
		return disruptionReason{awsv1.EventInstanceTerminating, "InstanceTerminated", "the instance is terminated from outside of the cluster", false}, true
	case provider.ReservationReclaims:
		return disruptionReason{awsv1.EventCapacityReservationInstanceInterrupted, karpv1.NoticeReservation, "the owner of the capacity reservation takes the instance back", true}, true
	case provider.ReservationEnds:
		return disruptionReason{awsv1.EventCapacityReservationInstanceInterrupted, karpv1.NoticeCapacityBlock, "the capacity block ends soon, and EC2 ends its instances half an hour before", true}, true
	case provider.EventStatus:
		return disruptionReason{awsv1.EventInstanceUnhealthy, "ScheduledEvent", "AWS has scheduled an event of the instance", false}, true
	case provider.InstanceStatus:
		return disruptionReason{awsv1.EventInstanceUnhealthy, "InstanceStatusImpaired", "the instance's status check has failed for two minutes", false}, true
	case provider.SystemStatus:
		return disruptionReason{awsv1.EventInstanceUnhealthy, "SystemStatusImpaired", "the status check of the instance's host has failed for two minutes", false}, true
	case provider.NoOp:
		return disruptionReason{}, false
	default:
		return disruptionReason{}, false
	}
}
