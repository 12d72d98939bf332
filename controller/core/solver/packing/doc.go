// Package packing solves cutting stock over plain data: items with sizes in several
// resources, bin types with capacities and costs, sets of bin types that each item may
// use, and conflicts between items. It looks for the cheapest bins that hold all items.
//
// # Method
//
// Column generation after Gilmore and Gomory (1961, 1963). A linear program, the
// restricted master, takes fillings of bins (patterns) in fractions, so that all items
// are covered at the least cost. Its duals say what one more of each item costs. The
// pricing problem asks, for each bin type, for the filling worth most at these duals, a
// bounded knapsack in several dimensions; fillings worth more than their bin costs enter
// the master, until there are none. Then the fractions are rounded, what is left is
// packed greedily, and single bins are improved by local search.
//
//	reduce        drop bin types that another beats (dominance.go)
//	blocks        part the items by the bin types that serve them (block.go), and many
//	              items of the same into pieces (pieces.go)
//	duals         price the items of each block: by a restricted master (master.go), by
//	              an aggregate program where items are few (duals.go), or by the duals of
//	              a like block (donor.go, warmstart.go)
//	round         take the masters' patterns in whole numbers (round.go)
//	greedy        pack what is left, the best value for money first (greedy.go)
//	improve       other packings; join, and ruin and recreate, single bins (improve.go,
//	              polish.go, merge.go)
//
// # Complexity
//
// With m items, B bin types worth looking at and R resources: a pass over the bins takes
// O(B m R), times the two or three steps of a relaxation; a pivot O(m^2); greedy about
// one filling for every pattern it packs. Nothing grows with the number of equal items.
//
// # Determinism
//
// Options.Effort counts moves, never time. Ties go to the lower number; items are sorted
// before anything depends on their order; blocks are priced in parallel but share nothing
// that changes.
//
// # Constants
//
// Where a constant's comment gives a change of cost and time without naming a source, it
// is that of 40 plans together, of 200 to 11,000 pods in the six mixes of BenchmarkSolve,
// when the constant alone is changed. Differences below 0.05 % of cost and 5 % of time are
// noise.
//
// The package knows nothing of what items and bins stand for.
package packing
