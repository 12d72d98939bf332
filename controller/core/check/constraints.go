package check

import "spokeshave.dev/controller/core/model"

// Constraints are what a plan must keep besides the rules that the snapshot
// itself contains.
type Constraints struct {
	// Pods index Snapshot.Pods: those that the plan was asked to place. Each
	// must be placed or be listed as unplaced, exactly once.
	Pods     []int32
	Headroom []Headroom
	Denied   []Denied
	// Excluded says whether the rank policies excluded an offering for a pool;
	// nil says that nothing is excluded.
	Excluded func(pool int32, o model.Option) bool
	// Skip lists kinds of violations that are not reported.
	Skip []Kind
}

// Headroom bounds what new nodes may cost per hour: the sum, over the nodes of
// the pools marked, of the most expensive option and Catalog.NodeCost.
type Headroom struct {
	// Scope is the name of the bound in messages ("cluster").
	Scope string
	// Pools marks the pools that count, by index; nil marks all.
	Pools []bool
	// Left is in micro-dollars per hour.
	Left model.Price
}

// Denied forbids options of a pool; an empty field matches every value.
type Denied struct {
	Pool         int32
	InstanceType string
	Zone         string
	CapacityType model.CapacityType
}

func (d *Denied) forbids(pool int32, o *model.Option) bool {
	return d.Pool == pool && (d.InstanceType == "" || d.InstanceType == o.InstanceType) &&
		(d.Zone == "" || d.Zone == o.Zone) && (d.CapacityType == "" || d.CapacityType == o.CapacityType)
}
