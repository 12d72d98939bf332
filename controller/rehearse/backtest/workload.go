package backtest

import (
	"time"

	"spokeshave.dev/controller/core/model"
)

// Workload is what a cluster has to run from Start to End.
type Workload struct {
	Start, End time.Time
	// Base has the pools, catalogues, pod specs and DaemonSets, but no nodes and no
	// pods.
	Base model.Snapshot
	// Pods are sorted by arrival.
	Pods []Pod
	// Budgets are the PodDisruptionBudgets.
	Budgets []Budget
	// Allow returns how many empty, underutilized and drifted nodes of a pool may be
	// disrupted now. nodes is the number of its nodes, leaving that of nodes being
	// removed.
	Allow func(pool int, now time.Time, nodes, leaving int) (empty, underutilized, drifted int)
}

// Pod is a pod that arrives.
type Pod struct {
	Namespace, Name, Workload string
	// Spec is an index into Workload.Base.Specs.
	Spec    int32
	Arrival time.Time
	// Lifetime is how long the pod runs, 0 for no end. A Job's pod that is evicted
	// starts again from zero; any other pod ends at the same time as without the
	// eviction.
	Lifetime     time.Duration
	Job          bool
	DoNotDisrupt bool
}

// tenth is Karpenter's default budget: a tenth of the nodes, rounded up, for each
// reason.
func tenth(_ int, _ time.Time, nodes, leaving int) (empty, underutilized, drifted int) {
	n := max(0, (nodes+9)/10-leaving)
	return n, n, n
}
