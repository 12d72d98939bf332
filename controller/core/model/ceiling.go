package model

// Headroom limits the total price of the new nodes of some NodePools. Each node
// counts with its most expensive option and with Catalog.NodeCost.
type Headroom struct {
	// Scope is the name of the limited scope, such as "cluster" or "nodepool/gpu".
	Scope string
	// Pools says by index of Snapshot.Pools which pools' nodes count; nil means all.
	Pools []bool
	// Left is what may still be spent, in micro-dollars per hour.
	Left Price
	// Policy is the policy that set the cap.
	Policy string
}

// Denied excludes offerings that a ceiling policy refused in this decision. Pool
// indexes Snapshot.Pools. An empty string matches every value.
type Denied struct {
	Pool int32
	// Namespace is that of the pods whose nodes the offerings may not be.
	Namespace    string
	InstanceType string
	Zone         string
	CapacityType CapacityType
	Policy       string
	Reason       string
}
