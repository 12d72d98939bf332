// Package bound computes a lower bound on what the new nodes of a plan cost.
//
// It solves another problem than planning does: the linear relaxation of packing, on
// nodes that count as many, without limits and headroom. Each pod gets a dual, its
// value in USD/hour, such that no node could hold pods of more value than it costs.
// The sum of the duals is then below the cost of any packing.
package bound
