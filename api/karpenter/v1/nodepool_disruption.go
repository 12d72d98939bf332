package v1

// Disruption says when nodes of a pool may be disrupted voluntarily.
type Disruption struct {
	// consolidateAfter is how long a node must have seen no pod come or go before it may be consolidated;
	// Never switches consolidation off. Ignored on static pools.
	// +required
	ConsolidateAfter NillableDuration `json:"consolidateAfter,omitempty"`

	// consolidationPolicy says which nodes consolidation may touch. Ignored on static pools.
	// +kubebuilder:default=WhenEmptyOrUnderutilized
	// +optional
	ConsolidationPolicy ConsolidationPolicy `json:"consolidationPolicy,omitempty"`

	// budgets bound how many nodes of the pool may be disrupted at the same time. Of the budgets that are
	// active, the tightest one counts.
	// +kubebuilder:default={{nodes: "10%"}}
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:XValidation:message="'schedule' must be set with 'duration'",rule="self.all(b, has(b.schedule) == has(b.duration))"
	// +listType=atomic
	// +optional
	Budgets []Budget `json:"budgets,omitempty"`
}

// ConsolidationPolicy says which nodes consolidation may touch.
//
// +kubebuilder:validation:Enum=WhenEmpty;WhenEmptyOrUnderutilized;Balanced
type ConsolidationPolicy string

// The consolidation policies.
const (
	// ConsolidateWhenEmpty removes nodes without pods that matter.
	ConsolidateWhenEmpty ConsolidationPolicy = "WhenEmpty"
	// ConsolidateWhenEmptyOrUnderutilized also moves pods when that saves money.
	ConsolidateWhenEmptyOrUnderutilized ConsolidationPolicy = "WhenEmptyOrUnderutilized"
	// ConsolidateBalanced moves pods when the saving is worth the disruption.
	ConsolidateBalanced ConsolidationPolicy = "Balanced"
)

// Budget bounds how many nodes of a pool may be disrupted at the same time.
type Budget struct {
	// reasons are the kinds of disruption that the budget is about; none means all of them.
	// +kubebuilder:validation:MaxItems=50
	// +listType=set
	// +optional
	Reasons []DisruptionReason `json:"reasons,omitempty"`

	// nodes is the bound: a number of nodes, or a percentage of the pool's nodes, rounded up.
	// +kubebuilder:default="10%"
	// +kubebuilder:validation:Pattern=`^((100|[0-9]{1,2})%|[0-9]+)$`
	// +required
	Nodes string `json:"nodes"`

	// schedule is when the budget becomes active: five cron fields or a macro such as @daily, in UTC.
	// Without one the budget is always active. Set together with duration.
	// +kubebuilder:validation:Pattern=`^(@(annually|yearly|monthly|weekly|daily|midnight|hourly)|\S+(\s+\S+){4})$`
	// +optional
	Schedule *string `json:"schedule,omitempty"`

	// duration is how long the budget stays active after each hit of schedule, in hours and minutes.
	// +kubebuilder:validation:Pattern=`^([0-9]+h([0-9]+m)?|[0-9]+m)(0s)?$`
	// +kubebuilder:validation:Type=string
	// +optional
	Duration *Duration `json:"duration,omitempty"`
}

// DisruptionReason is a kind of voluntary disruption.
//
// +kubebuilder:validation:Enum=Underutilized;Empty;Drifted
type DisruptionReason string

// The kinds of voluntary disruption.
const (
	DisruptionUnderutilized DisruptionReason = "Underutilized"
	DisruptionEmpty         DisruptionReason = "Empty"
	DisruptionDrifted       DisruptionReason = "Drifted"
)
