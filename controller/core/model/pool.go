package model

import "time"

// Pool is a NodePool, lowered.
type Pool struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
	// Labels are the NodePool object's own labels: policies select by them
	// and spend is attributed by them.
	Labels map[string]string `json:"labels,omitempty"`
	// Weight orders pools, higher first, 0 when unset.
	Weight       int32         `json:"weight,omitempty"`
	Requirements []Requirement `json:"requirements,omitempty"`
	// NodeLabels and the taints are the template's.
	NodeLabels    map[string]string `json:"nodeLabels,omitempty"`
	Taints        []Taint           `json:"taints,omitempty"`
	StartupTaints []Taint           `json:"startupTaints,omitempty"`
	// Limits bound Usage plus what is launched; an absent name is unbounded.
	Limits Resources `json:"limits,omitempty"`
	// Usage sums the capacity of the pool's nodes and in-flight claims.
	Usage     Resources `json:"usage,omitempty"`
	NodeClass string    `json:"nodeClass"`
	// Catalog indexes Snapshot.Catalogs, -1 when the class has none.
	Catalog int32 `json:"catalog"`
	// NotReady, when set, says why nothing may be launched from the pool.
	NotReady   string     `json:"notReady,omitempty"`
	Disruption Disruption `json:"disruption"`
	// Replicas makes the pool static: how many nodes it keeps. Placeholder
	// says how.
	Replicas *int64 `json:"replicas,omitempty"`
}

// Disruption holds a NodePool's disruption settings.
type Disruption struct {
	// ConsolidateAfter is how long a node is left alone after its last pod
	// event; Never switches consolidation off.
	ConsolidateAfter time.Duration `json:"consolidateAfter"`
	Never            bool          `json:"never,omitempty"`
	// Policy is WhenEmpty, WhenEmptyOrUnderutilized or Balanced.
	Policy string `json:"policy"`
	// AllowedEmpty, AllowedUnderutilized and AllowedDrifted are how many nodes
	// the budgets let go right now for each reason. Nodes that are on their
	// way out already are taken off; those of commands under way are not.
	AllowedEmpty         int `json:"allowedEmpty"`
	AllowedUnderutilized int `json:"allowedUnderutilized"`
	AllowedDrifted       int `json:"allowedDrifted"`
}
