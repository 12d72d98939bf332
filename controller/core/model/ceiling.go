package model

// Headroom bounds what the new nodes of some NodePools may cost together. Each node
// counts with its dearest option and with Catalog.NodeCost, in micro-dollars per hour.
type Headroom struct {
	// Scope is how people name the bound: "cluster", "nodepool/gpu".
	Scope string
	// Pools says by index of Snapshot.Pools which nodes count; nil counts all.
	Pools []bool
	// Left is what may still be spent, in micro-dollars per hour.
	Left Price
	// Policy is the policy that set the cap.
	Policy string
}

// Denied forbids launches: a ceiling policy refused one like it in this decision. Pool
// indexes Snapshot.Pools; empty texts match anything.
type Denied struct {
	Pool         int32
	InstanceType string
	Zone         string
	CapacityType CapacityType
	Policy       string
	Reason       string
}
