package check

import "spokeshave.dev/controller/core/model"

// Constraints are what a plan must keep besides the rules that the snapshot
// itself contains.
type Constraints struct {
	// Pods index Snapshot.Pods: those that the plan was asked to place. Each
	// must be placed or be listed as unplaced, exactly once.
	Pods     []int32
	Headroom []model.Headroom
	Denied   []model.Denied
	// Excluded says whether the rank policies excluded an offering for a pool;
	// nil says that nothing is excluded.
	Excluded func(pool int32, o model.Option) bool
	// Skip lists kinds of violations that are not reported.
	Skip []Kind
}

// forbids says whether d denies the option of the pool to pods of a namespace.
func forbids(d *model.Denied, namespace string, pool int32, o *model.Option) bool {
	return (d.Namespace == "" || d.Namespace == namespace) && d.Pool == pool && (d.InstanceType == "" || d.InstanceType == o.InstanceType) &&
		(d.Zone == "" || d.Zone == o.Zone) && (d.CapacityType == "" || d.CapacityType == o.CapacityType)
}
