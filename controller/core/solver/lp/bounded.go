package lp

import (
	"math"

	"spokeshave.dev/controller/core/solver/vec"
)

// Columns are the columns of bounded programs, by number. The slices belong to
// the caller, who may change Objective and Upper between two calls of Solve.
type Columns struct {
	// Objective is what a unit of each column is worth, at least 0.
	Objective []float64
	// Use is how much a unit of each column takes of each row, at least 0.
	Use []vec.Reals
	// Upper is how many units of each column there are, at least 0.
	Upper []float64
}

// Gain is the reduced cost of a column: its objective beyond the price of what
// it uses of the first n rows.
func (c *Columns) Gain(column int32, n int, price *vec.Reals) float64 {
	d := &c.Use[column]
	gain := c.Objective[column] - float64(price[0]*d[0]) - float64(price[1]*d[1]) - float64(price[2]*d[2])
	for r := 3; r < n; r++ {
		gain -= float64(price[r] * d[r])
	}
	return gain
}

// Bound is an upper bound of the program over a subset of the columns, by weak
// duality: what the first n rows' capacity costs at the prices, and the gain of
// the columns that have one. Prices have to be at least 0.
func (c *Columns) Bound(subset []int32, capacity *vec.Reals, n int, price *vec.Reals) float64 {
	sum := 0.0
	for r := range n {
		sum += float64(price[r] * capacity[r])
	}
	for _, j := range subset {
		if gain := c.Gain(j, n, price); gain > 0 {
			sum += float64(gain * c.Upper[j])
		}
	}
	return sum
}

// Basis names the basic variable of each row: one more than the number of a
// column, 0 for the row's own slack. The zero value is a basis of slacks.
type Basis [vec.MaxDims]int32

// Solution is the optimum of a bounded program. Where the gains of several columns
// are exactly 0 at the optimum, steps may go round in a circle, or rounding may take
// a column for one that gains: then Value still is an upper bound, but amounts may
// break a bound. Callers give different columns objectives that differ a little
// (seven of a thousand small programs of which all numbers are 0, 1 or 2 end so).
type Solution struct {
	// Price is the dual value of each row, at least 0.
	Price vec.Reals
	// Column and Amount are the basic variables and their values, by row; a
	// negative column is a slack.
	Column [vec.MaxDims]int32
	Amount vec.Reals
	// Full lists the columns that are at their upper bound.
	Full []int32
	// Value is an upper bound of the objective: the optimum, mostly.
	Value float64
}

// Bounded solves max Objective.x, Use.x <= capacity, 0 <= x <= Upper over
// subsets of its columns. It has one row per resource, and every variable, the
// slacks included, has two bounds: any basis is dual feasible once each other
// variable is at the bound that its gain asks for. So the basis of the last
// time will do for a start: that takes two or three steps where slacks take
// fifteen.
//
// The zero value with Columns set is ready. One value is for one goroutine.
type Bounded struct {
	Columns

	n      int
	subset []int32
	inv    [vec.MaxDims]vec.Reals
	room   vec.Reals
	// gain is by position in subset.
	gain   []float64
	breaks breakpoints
	Solution
}

// maxSteps bounds the steps of one solve, besides one a column; the prices at
// hand bound the objective wherever it stops. No solve of the 2,000 scenarios of
// tools/digests comes near.
const maxSteps = 64

// feasible is how far a basic variable may be outside its bounds, in proportion
// to them. A hundredth and a hundred times the value change no plan.
const feasible = 1e-7

// Solve solves the program over the columns of the subset, in the first n rows.
// Every column that the basis names has to be in the subset. Basis is where it
// starts, and where it leaves off. The solution is valid until the next call.
func (x *Bounded) Solve(subset []int32, capacity *vec.Reals, n int, basis *Basis) *Solution {
	x.n, x.subset, x.room, x.Full = n, subset, *capacity, x.Full[:0]
	for r := range x.Column {
		x.Column[r], x.Price[r], x.Amount[r] = -1-int32(r), 0, 0
	}
	for r := range n {
		if j := basis[r] - 1; j >= 0 && x.Upper[j] > 0 && x.Objective[j] > 0 {
			x.Column[r] = j
		}
	}
	if !x.invert() {
		for r := range n {
			x.Column[r] = -1 - int32(r)
		}
		x.invert()
	}
	for range maxSteps + len(subset) {
		x.settle()
		out, over := x.violated()
		if out < 0 || !x.step(out, over) {
			break
		}
	}
	x.Value = x.value(capacity)
	for r := range n {
		basis[r] = max(0, x.Column[r]+1)
	}
	for q, j := range subset {
		if x.gain[q] > 0 && !x.basic(j) {
			x.Full = append(x.Full, j)
		}
	}
	return &x.Solution
}

// value is the bound at the prices of the basis, of which those below 0 are set to 0.
// Unless there is one, the gains at hand are those at the prices.
func (x *Bounded) value(capacity *vec.Reals) float64 {
	changed := false
	for r := range x.n {
		changed = changed || x.Price[r] < 0
		x.Price[r] = max(0, x.Price[r])
	}
	if changed {
		return x.Bound(x.subset, capacity, x.n, &x.Price)
	}
	sum := 0.0
	for r := range x.n {
		sum += float64(x.Price[r] * capacity[r])
	}
	for q, gain := range x.gain {
		if gain > 0 {
			sum += float64(gain * x.Upper[x.subset[q]])
		}
	}
	return sum
}

func (x *Bounded) basic(variable int32) bool {
	for r := range x.n {
		if x.Column[r] == variable {
			return true
		}
	}
	return false
}

// settle computes prices, gains and amounts of the basis: what gains is at its
// upper bound, what does not at 0, and the basic variables make up for it.
func (x *Bounded) settle() {
	x.prices()
	rest := x.room
	x.gain = x.gain[:0]
	for _, j := range x.subset {
		gain := x.Gain(j, x.n, &x.Price)
		x.gain = append(x.gain, gain)
		if gain > 0 && !x.basic(j) {
			n, d := x.Upper[j], &x.Use[j]
			for r := range x.n {
				rest[r] -= float64(n * d[r])
			}
		}
	}
	for r := range x.n {
		if x.Price[r] < 0 && !x.basic(-1-int32(r)) {
			rest[r] -= x.room[r]
		}
	}
	for q := range x.n {
		x.Amount[q] = 0
		for r := range x.n {
			x.Amount[q] += float64(x.inv[q][r] * rest[r])
		}
	}
}

// prices are the dual values of the basis.
func (x *Bounded) prices() {
	for r := range x.n {
		x.Price[r] = 0
	}
	for q := range x.n {
		if v := x.Column[q]; v >= 0 {
			for r := range x.n {
				x.Price[r] += float64(x.Objective[v] * x.inv[q][r])
			}
		}
	}
}

// upper is the upper bound of a variable.
func (x *Bounded) upper(v int32) float64 {
	if v < 0 {
		return x.room[-1-v]
	}
	return x.Upper[v]
}

// violated is the basic variable farthest outside its bounds, in proportion to
// them, and by how much: negative below 0. -1 when all are within.
func (x *Bounded) violated() (out int, over float64) {
	out = -1
	worst := feasible
	for q := range x.n {
		upper := x.upper(x.Column[q])
		by := 0.0
		switch a := x.Amount[q]; {
		case a < 0:
			by = a
		case a > upper:
			by = a - upper
		}
		if v := math.Abs(by) / max(1, upper); v > worst {
			worst, out, over = v, q, by
		}
	}
	return out, over
}
