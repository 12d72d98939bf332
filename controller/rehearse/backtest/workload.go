package backtest

import (
	"time"

	"spokeshave.dev/controller/core/model"
)

// Workload is what a cluster is asked to run.
type Workload struct {
	Start, End time.Time
	// Base has the pools, catalogues, pod specs and DaemonSets; no nodes, no pods.
	Base model.Snapshot
	// Pods come in the order of their arrival.
	Pods []Pod
	// Budgets are the PodDisruptionBudgets.
	Budgets []Budget
	// Allow is how many nodes of a pool may be disrupted now, of so many, of
	// which some are leaving: empty, underutilized and drifted ones.
	Allow func(pool int, now time.Time, nodes, leaving int) (empty, underutilized, drifted int)
}

// Pod is a pod that arrives.
type Pod struct {
	Namespace, Name, Workload string
	// Spec indexes Workload.Base.Specs.
	Spec    int32
	Arrival time.Time
	// Lifetime is how long the pod runs, 0 for ever. A Job's pod that is
	// evicted begins anew, any other one ends when it would have.
	Lifetime     time.Duration
	Job          bool
	DoNotDisrupt bool
}

// tenth is Karpenter's default budget: a tenth of the nodes, rounded up.
func tenth(_ int, _ time.Time, nodes, leaving int) (empty, underutilized, drifted int) {
	n := max(0, (nodes+9)/10-leaving)
	return n, n, n
}
