package lp

import (
	"cmp"
	"math"
	"slices"
)

// factor says when the inverse of a Master's basis is computed anew.
type factor struct {
	// updates counts the pivots since the inverse was computed anew.
	updates int
	// checked is how many of them there were when the residual was last looked at.
	checked int
	// computed counts how often it was.
	computed int
}

const (
	// checkEvery is after how many pivots the residual is looked at, which takes as
	// long as a hundredth of a pivot.
	checkEvery = 64
	// fewPivots is after how many an optimum counts as exact without a look; looking
	// every time took 3 % of a solve of 1,000 diverse pods.
	fewPivots = 16
	// maxResidual is above what the inverse is computed anew. Rounding alone takes the
	// residual of 60 rows from 1e-15 to 1e-12 in 1,300 pivots; of 425 residuals, on 5,000
	// and 20,000 pods of seven mixes, the worst was 5e-9, after a small pivot. Plans do
	// not notice less than 1e-5, the part by which demands are uneven.
	maxResidual = 1e-9
)

// age counts a pivot and, now and then, computes the inverse anew if it has become
// inexact.
func (g *Master) age() {
	if g.factor.updates++; g.factor.updates-g.factor.checked >= checkEvery {
		g.mended()
	}
}

// mended computes the inverse anew if it has become inexact, and reports whether it
// did. It does not look after only a few pivots: column generation reoptimizes
// hundreds of times, by some ten pivots each.
func (g *Master) mended() bool {
	return g.factor.updates-g.factor.checked >= fewPivots && g.Mend()
}

// Mend computes the inverse of the basis anew if it has become inexact, and reports
// whether it did: then there may be more for Reoptimize to do. An owner calls it before
// taking the duals for final.
func (g *Master) Mend() bool {
	if g.factor.updates == 0 || g.residual() <= maxResidual {
		g.factor.checked = g.factor.updates
		return false
	}
	g.refactor()
	return true
}

// refactor computes the inverse anew. Errors may have led to a basis that is singular
// or does not cover the demand: then all begins again from the first basis, which does.
func (g *Master) refactor() {
	if !g.invert() || !g.recompute() {
		g.reset()
	}
	g.factor = factor{computed: g.factor.computed + 1}
}

// reset goes back to the first basis.
func (g *Master) reset() {
	g.first()
	for i := range g.amount {
		g.amount[i] = g.demand[i] / float64(g.columns[i].Counts[0])
	}
}

// residual is how far the basic solution is off, in proportion: the demand that
// is not covered exactly, and the cost of a basic variable that its rows' duals
// do not add up to. O(entries of the basis), next to nothing beside a pivot.
func (g *Master) residual() float64 {
	rest, worst := slices.Clone(g.demand), 0.0
	top := slices.Max(g.Dual)
	for j, c := range g.basis {
		if c < 0 {
			rest[-1-c] += g.amount[j]
			worst = max(worst, math.Abs(g.Dual[-1-c])/top)
			continue
		}
		f := &g.columns[c]
		for q, i := range f.Rows {
			rest[i] -= float64(g.amount[j] * float64(f.Counts[q]))
		}
		worst = max(worst, math.Abs(g.rate(c)))
	}
	for i, v := range rest {
		worst = max(worst, math.Abs(v)/g.demand[i])
	}
	return worst
}

// invert computes the inverse of the basis anew: one basic variable after another, those of fewest rows first so that the
// inverse stays sparse, enters an identity where its pivot is largest. It reports
// false, and leaves all as it was, when the basis has become singular. O(m^3) at
// worst, as much as m pivots on a full inverse.
func (g *Master) invert() bool {
	order := slices.Clone(g.basis)
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(g.entries(a), g.entries(b)) })
	before := g.inv
	g.inv = identity(len(order))
	basis, placed := make([]int32, len(order)), make([]bool, len(order))
	for _, c := range order {
		g.express(c)
		at := -1
		for j, v := range g.inv.u {
			if !placed[j] && (at < 0 || math.Abs(v) > math.Abs(g.inv.u[at])) {
				at = j
			}
		}
		if math.Abs(g.inv.u[at]) < leastPivot {
			g.inv = before
			return false
		}
		g.inv.enter(at)
		basis[at], placed[at] = c, true
	}
	g.basis = basis
	return true
}

// entries is how many rows a variable is in.
func (g *Master) entries(variable int32) int {
	if variable < 0 {
		return 1
	}
	return len(g.columns[variable].Rows)
}

// recompute works out amounts and duals by the inverse. It reports false when an
// amount is below 0 by more than rounding.
func (g *Master) recompute() bool {
	clear(g.Dual)
	for j, c := range g.basis {
		row, sum, size := g.inv.row(j), 0.0, 0.0
		for i, v := range row {
			sum += float64(v * g.demand[i])
			size += math.Abs(float64(v * g.demand[i]))
		}
		if sum < -maxResidual*size {
			return false
		}
		g.amount[j] = max(0, sum)
		if c < 0 {
			continue
		}
		for i, v := range row {
			g.Dual[i] += float64(g.columns[c].Cost * v)
		}
	}
	return true
}
