package solver

import (
	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/bound"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/problem"
)

// LowerBound returns a lower bound on the cost of new nodes for the pods that a plan
// puts on new nodes, however they are packed, in USD/hour: effective cost plus
// Catalog.NodeCost. It is 0 when there are no new nodes, or when there are so many
// different requests that no bound is known. It considers the pods' requirements on
// their nodes, anti-affinity on single nodes and, for a class that only counts
// itself, a topology spread. It ignores preferences, limits, headroom and the other
// constraints between pods.
func LowerBound(in Input, plan *model.Plan) float64 {
	in.Pods = nil
	for i := range plan.Nodes {
		in.Pods = append(in.Pods, plan.Nodes[i].Pods...)
	}
	if len(in.Pods) == 0 {
		return 0
	}
	in = withoutPreferences(&in)
	in.budget = effort.New(len(in.Pods))
	in.Offerings = nil // the bound changes the costs of offerings, which must not be shared
	return bound.Lower(problem.New(in.problem(in.Snapshot.Specs)), in.Headroom)
}
