package model

import "time"

// Pool is a NodePool in the form that decisions use.
type Pool struct {
	Name string `json:"name"`
	UID  string `json:"uid,omitempty"`
	// Labels are the labels of the NodePool object. Policies select pools by them,
	// and spend is attributed by them.
	Labels map[string]string `json:"labels,omitempty"`
	// Weight orders pools, higher first; 0 when unset.
	Weight       int32         `json:"weight,omitempty"`
	Requirements []Requirement `json:"requirements,omitempty"`
	// NodeLabels and the taints are the template's.
	NodeLabels    map[string]string `json:"nodeLabels,omitempty"`
	Taints        []Taint           `json:"taints,omitempty"`
	StartupTaints []Taint           `json:"startupTaints,omitempty"`
	// Limits are upper bounds on Usage plus launches; an absent name is unlimited.
	Limits Resources `json:"limits,omitempty"`
	// Usage sums the capacity of the pool's nodes and in-flight claims, without those that
	// are being deleted: a pool at its limit can replace them.
	Usage     Resources `json:"usage,omitempty"`
	NodeClass string    `json:"nodeClass"`
	// Catalog indexes Snapshot.Catalogs, -1 when the class has none.
	Catalog int32 `json:"catalog"`
	// NotReady, when set, says why nothing may be launched from the pool.
	NotReady   string     `json:"notReady,omitempty"`
	Disruption Disruption `json:"disruption"`
	// Replicas is the number of nodes that a static pool keeps; nil for ordinary
	// pools. See Placeholder.
	Replicas *int64 `json:"replicas,omitempty"`
}

// Disruption holds a NodePool's disruption settings.
type Disruption struct {
	// ConsolidateAfter is how long after its last pod event a node is not
	// consolidated. Never disables consolidation.
	ConsolidateAfter time.Duration `json:"consolidateAfter"`
	Never            bool          `json:"never,omitempty"`
	// Policy is WhenEmpty, WhenEmptyOrUnderutilized or Balanced.
	Policy string `json:"policy"`
	// AllowedEmpty, AllowedUnderutilized and AllowedDrifted are how many nodes the
	// budgets allow to be disrupted now, by reason. Nodes that are being deleted are
	// already deducted; nodes of commands under way are not.
	AllowedEmpty         int `json:"allowedEmpty"`
	AllowedUnderutilized int `json:"allowedUnderutilized"`
	AllowedDrifted       int `json:"allowedDrifted"`
	// MoveCost takes the place of Settings.MoveCost; nil for none.
	MoveCost *Price `json:"moveCost,omitempty"`
}
