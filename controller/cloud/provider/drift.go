package provider

import "context"

// DriftReason says how an instance differs from what its node class would launch now.
// Its values are reasons of the NodeClaim's condition Drifted.
type DriftReason string

// The reasons that a cloud can find. NotDrifted is the zero value.
const (
	NotDrifted               DriftReason = ""
	AMIDrift                 DriftReason = "AMIDrift"
	SubnetDrift              DriftReason = "SubnetDrift"
	SecurityGroupDrift       DriftReason = "SecurityGroupDrift"
	CapacityReservationDrift DriftReason = "CapacityReservationDrift"
	PlacementGroupDrift      DriftReason = "PlacementGroupDrift"
	NodeClassDrift           DriftReason = "NodeClassDrift"
)

// Drift is the result for one node. Reason is NotDrifted when the class would launch
// the same now.
type Drift struct {
	Reason DriftReason
	// Message says what was found and what is wanted, in a sentence for users.
	Message string
}

// Launched is what the cluster has recorded about a node's launch.
type Launched struct {
	ProviderID string
	NodeClass  string
	// InstanceType is the value of the label node.kubernetes.io/instance-type. Labels
	// are all of the claim's.
	Labels map[string]string
	// Annotations are the claim's. They include Attempt.Annotations.
	Annotations map[string]string
}

// Drifter is implemented by providers whose node classes can change after nodes were
// launched from them.
type Drifter interface {
	// Drifted compares a node with its class as it is now. An error means that the
	// result is not known: kind NotFound when the instance is gone, ClassNotReady when
	// the class is missing or not resolved.
	Drifted(ctx context.Context, node Launched) (Drift, error)
}
