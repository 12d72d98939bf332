package v1

// Condition types of EC2NodeClass.
const (
	ConditionReady                     = "Ready"                     // nodes can be launched from the class
	ConditionSubnetsReady              = "SubnetsReady"              // the selectors find subnets
	ConditionSecurityGroupsReady       = "SecurityGroupsReady"       // the selectors find security groups
	ConditionAMIsReady                 = "AMIsReady"                 // the selectors find images
	ConditionInstanceProfileReady      = "InstanceProfileReady"      // the instance profile exists
	ConditionCapacityReservationsReady = "CapacityReservationsReady" // the selected reservations were read
	ConditionPlacementGroupReady       = "PlacementGroupReady"       // the selected placement group exists
	ConditionValidationSucceeded       = "ValidationSucceeded"       // the class makes sense, and EC2 has refused no dry run of it
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

// Reasons for which ValidationSucceeded is false when EC2 refuses the dry run of a request.
const (
	ReasonCreateLaunchTemplateAuthCheckFailed = "CreateLaunchTemplateAuthCheckFailed"
	ReasonRunInstancesAuthCheckFailed         = "RunInstancesAuthCheckFailed"
	ReasonCreateFleetAuthCheckFailed          = "CreateFleetAuthCheckFailed"
)
