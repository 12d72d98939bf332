package v1

// SubnetSelectorTerm chooses subnets; its fields must all match.
type SubnetSelectorTerm struct {
	// tags are the subnet's tags; "*" as a value matches any.
	// +kubebuilder:validation:XValidation:message="empty tag keys or values aren't supported",rule="self.all(k, k != '' && self[k] != '')"
	// +kubebuilder:validation:MaxProperties=20
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// id is the subnet's id.
	// +kubebuilder:validation:Pattern=`subnet-[0-9a-z]+`
	// +optional
	ID string `json:"id,omitempty"`
}

// SecurityGroupSelectorTerm chooses security groups; its fields must all match.
type SecurityGroupSelectorTerm struct {
	// tags are the group's tags; "*" as a value matches any.
	// +kubebuilder:validation:XValidation:message="empty tag keys or values aren't supported",rule="self.all(k, k != '' && self[k] != '')"
	// +kubebuilder:validation:MaxProperties=20
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// id is the group's id.
	// +kubebuilder:validation:Pattern=`sg-[0-9a-z]+`
	// +optional
	ID string `json:"id,omitempty"`
	// name is the group's name, which is not its Name tag.
	// +optional
	Name string `json:"name,omitempty"`
}

// CapacityReservationSelectorTerm chooses capacity reservations; its fields must all match.
type CapacityReservationSelectorTerm struct {
	// tags are the reservation's tags; "*" as a value matches any.
	// +kubebuilder:validation:XValidation:message="empty tag keys or values aren't supported",rule="self.all(k, k != '' && self[k] != '')"
	// +kubebuilder:validation:MaxProperties=20
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// id is the reservation's id.
	// +kubebuilder:validation:Pattern=`^cr-[0-9a-z]+$`
	// +optional
	ID string `json:"id,omitempty"`
	// ownerID is the account that owns the reservation.
	// +kubebuilder:validation:Pattern=`^[0-9]{12}$`
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// instanceMatchCriteria is how the reservation takes in instances.
	// +kubebuilder:validation:Enum=open;targeted
	// +optional
	InstanceMatchCriteria string `json:"instanceMatchCriteria,omitempty"`
}

// PlacementGroupSelector names a placement group, one way or the other.
//
// +kubebuilder:validation:XValidation:message="expected at least one, got none, ['name', 'id']",rule="has(self.name) || has(self.id)"
// +kubebuilder:validation:XValidation:message="'name' and 'id' are mutually exclusive",rule="!has(self.name) || !has(self.id)"
type PlacementGroupSelector struct {
	// name is the group's name.
	// +kubebuilder:validation:MinLength=1
	// +optional
	Name *string `json:"name,omitempty"`
	// id is the group's id.
	// +kubebuilder:validation:Pattern=`^pg-[0-9a-z]+$`
	// +optional
	ID *string `json:"id,omitempty"`
}

// AMISelectorTerm chooses machine images; its fields must all match.
type AMISelectorTerm struct {
	// alias is an EKS-optimized image, as family@version: al2, al2023, bottlerocket, windows2019,
	// windows2022 or windows2025, and a release of that family or latest. With latest, nodes drift when a
	// release appears, so production pins one; Windows knows only latest.
	// +kubebuilder:validation:XValidation:message="'alias' is improperly formatted, must match the format 'family@version'",rule="self.matches('^[a-zA-Z0-9]+@.+$')"
	// +kubebuilder:validation:XValidation:message="family is not supported, must be one of the following: 'al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025'",rule="self.split('@')[0] in ['al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025']"
	// +kubebuilder:validation:XValidation:message="windows families may only specify version 'latest'",rule="!self.startsWith('windows') || self.endsWith('@latest')"
	// +kubebuilder:validation:MaxLength=30
	// +optional
	Alias string `json:"alias,omitempty"`
	// tags are the image's tags; "*" as a value matches any.
	// +kubebuilder:validation:XValidation:message="empty tag keys or values aren't supported",rule="self.all(k, k != '' && self[k] != '')"
	// +kubebuilder:validation:MaxProperties=20
	// +optional
	Tags map[string]string `json:"tags,omitempty"`
	// id is the image's id.
	// +kubebuilder:validation:Pattern=`ami-[0-9a-z]+`
	// +optional
	ID string `json:"id,omitempty"`
	// name is the image's name, which is not its Name tag; "*" and "?" are wildcards.
	// +optional
	Name string `json:"name,omitempty"`
	// owner is the image's owner: an account, self, amazon or aws-marketplace.
	// +optional
	Owner string `json:"owner,omitempty"`
	// ssmParameter is the name or ARN of the SSM parameter that holds the image's id.
	// +optional
	SSMParameter string `json:"ssmParameter,omitempty"`
}
