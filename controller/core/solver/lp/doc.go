// Package lp has the three linear programs that packing by column generation
// needs, each with the method that suits its form:
//
//   - Bounded: few rows, hundreds of columns with upper bounds, solved again and
//     again with other objectives. A dual simplex whose variables all have two
//     bounds and which starts from the last optimal basis. It is the relaxation
//     of a bounded multi-dimensional knapsack, the pricing problem.
//   - Master: a covering program, min cost.x, A.x >= demand, x >= 0, to which
//     columns are added while it is solved: the restricted master problem of
//     Gilmore and Gomory (1961). A primal simplex with an explicit inverse of
//     the basis, which is computed anew from time to time.
//   - UnitPrices: few columns, any number of rows, once. A dense tableau.
//
// All are deterministic: no maps are walked, ties go to the lowest number, and
// every product is rounded before it is added (a float64 conversion), so that
// processors with a fused multiply-add give the same bits as those without.
//
// The package knows nothing of what rows and columns stand for.
package lp
