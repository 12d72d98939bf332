package v1

// Condition types of EC2NodeClass.
const (
	ConditionReady                     = "Ready"
	ConditionSubnetsReady              = "SubnetsReady"
	ConditionSecurityGroupsReady       = "SecurityGroupsReady"
	ConditionAMIsReady                 = "AMIsReady"
	ConditionInstanceProfileReady      = "InstanceProfileReady"
	ConditionCapacityReservationsReady = "CapacityReservationsReady"
	ConditionPlacementGroupReady       = "PlacementGroupReady"
	ConditionValidationSucceeded       = "ValidationSucceeded"
)

// Reasons of a NodeClaim's Drifted condition that the provider finds.
const (
	DriftAMI                 = "AMIDrift"
	DriftSubnet              = "SubnetDrift"
	DriftSecurityGroup       = "SecurityGroupDrift"
	DriftCapacityReservation = "CapacityReservationDrift"
	DriftPlacementGroup      = "PlacementGroupDrift"
	DriftNodeClass           = "NodeClassDrift"
)

// ReadyConditions lists the conditions that make an EC2NodeClass Ready.
// CapacityReservationsReady joins them where the feature gate ReservedCapacity is on.
func (*EC2NodeClass) ReadyConditions() []string {
	return []string{
		ConditionAMIsReady,
		ConditionSubnetsReady,
		ConditionSecurityGroupsReady,
		ConditionInstanceProfileReady,
		ConditionValidationSucceeded,
		ConditionPlacementGroupReady,
	}
}
