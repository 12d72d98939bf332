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
