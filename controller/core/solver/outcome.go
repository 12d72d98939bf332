package solver

import (
	"maps"
	"slices"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/commit"
	"spokeshave.dev/controller/core/solver/planwriter"
	"spokeshave.dev/controller/core/solver/problem"
)

// outcome is a plan with its statistics. The reasons of unplaced pods are filled in
// by explain, which takes about as long as packing.
type outcome struct {
	*model.Plan
	stats   *Stats
	explain func()
	// problem, attempt, hosts and options (by new node) are what the plan was written from.
	problem *problem.Problem
	attempt *commit.Attempt
	hosts   []problem.Host
	// nodes are copies of the attempt's, which goes on to make other plans, where
	// [outcome.widen] needs them.
	nodes   []commit.Node
	options [][]int32
	// leavesPlaceable is set when a pod is left out that some offering could hold alone.
	leavesPlaceable bool
	// trial is the index of the plan's trial in the log.
	trial int
	// outpacked is set when, on the question that this is the best plan of, packing all pods at
	// once lost by far, see [search.packingLost].
	outpacked bool
}

// write returns the plan of an attempt.
func write(p *problem.Problem, in *Input, a *commit.Attempt, hosts []problem.Host) outcome {
	out := outcome{problem: p, attempt: a, hosts: hosts, leavesPlaceable: a.LeavesPlaceable()}
	out.Plan, out.explain = planwriter.Write(p, a, hosts, in.Blocked, in.Headroom)
	out.stats = &Stats{
		Pods: len(p.Pods), Classes: len(p.Classes), Items: a.Done.Items, Offers: len(p.Supply.Offers), BinTypes: a.Done.BinTypes,
		Packings: a.Done.Packings, Passes: a.Done.Passes, Pivots: a.Done.Pivots,
		Effective: a.Effective(), Billed: a.Billed(), Fixed: a.FixedCost(),
	}
	for _, n := range a.Nodes {
		out.options = append(out.options, n.Options)
		if in.SpotTolerance > in.Tolerance {
			as := *n
			as.Set, as.Placed = n.Set.Clone(), slices.Clone(n.Placed)
			out.nodes = append(out.nodes, as)
		}
	}
	return out
}

// cost returns what the new nodes cost in USD/hour: effective cost and
// Catalog.NodeCost.
func (o *outcome) cost() float64 { return o.stats.Effective + o.stats.Fixed.USD() }

// leavesOut compares the pods that two plans leave out: negative when a leaves out fewer
// of the most urgent pods than b, positive when it leaves out more, 0 when as many of each
// priority.
func leavesOut(s *model.Snapshot, a, b outcome) int {
	balance := map[int32]int{}
	for i := range a.Unplaced {
		balance[s.Specs[s.Pods[a.Unplaced[i].Pod].Spec].Priority]++
	}
	for i := range b.Unplaced {
		balance[s.Specs[s.Pods[b.Unplaced[i].Pod].Spec].Priority]--
	}
	for _, priority := range slices.Backward(slices.Sorted(maps.Keys(balance))) {
		if n := balance[priority]; n != 0 {
			return n
		}
	}
	return 0
}

// preferable reports whether a leaves out fewer of the most urgent pods than b, or
// as many at lower cost.
func preferable(s *model.Snapshot, a, b outcome) bool {
	if more := leavesOut(s, a, b); more != 0 {
		return more < 0
	}
	return a.cost() < b.cost()*(1-1e-9)
}
