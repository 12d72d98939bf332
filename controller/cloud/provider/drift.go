package provider

import "context"

// DriftReason says in what an instance differs from what its node class would
// launch now. The words are those of the NodeClaim's Drifted condition.
type DriftReason string

// The reasons a cloud can find. NotDrifted is the zero value.
const (
	NotDrifted               DriftReason = ""
	AMIDrift                 DriftReason = "AMIDrift"
	SubnetDrift              DriftReason = "SubnetDrift"
	SecurityGroupDrift       DriftReason = "SecurityGroupDrift"
	CapacityReservationDrift DriftReason = "CapacityReservationDrift"
	PlacementGroupDrift      DriftReason = "PlacementGroupDrift"
	NodeClassDrift           DriftReason = "NodeClassDrift"
)

// Drift is the answer to a question about one node. Reason is NotDrifted while
// the node is as it would be launched now.
type Drift struct {
	Reason DriftReason
	// Message says what was found and what is wanted, for people.
	Message string
}

// Launched is what the cluster remembers of a node's launch.
type Launched struct {
	ProviderID string
	NodeClass  string
	// InstanceType is the node.kubernetes.io/instance-type label, Labels all of
	// the claim's.
	Labels map[string]string
	// Annotations are the claim's: those that Attempt.Annotations asked for are
	// among them.
	Annotations map[string]string
}

// Drifter is implemented by providers whose node classes can change under the
// nodes launched from them.
type Drifter interface {
	// Drifted compares a node with its class as it is now. An error means that
	// nothing is known: kind NotFound when the instance is gone, ClassNotReady
	// when the class is missing or not resolved.
	Drifted(ctx context.Context, node Launched) (Drift, error)
}
