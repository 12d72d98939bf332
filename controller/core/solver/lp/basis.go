package lp

import (
	"math"

	"spokeshave.dev/controller/core/solver/vec"
)

// A hundredth and a hundred times these values change no plan.
const (
	// singular is the pivot, of columns of about 1 to 1,000, below which a
	// starting basis counts as singular and slacks are taken.
	singular = 1e-9
	// smallPivot is the pivot below which a variable does not enter.
	smallPivot = 1e-12
)

// column is a variable's column.
func (x *Bounded) column(v int32) (col vec.Reals) {
	if v < 0 {
		col[-1-v] = 1
		return col
	}
	return x.Use[v]
}

// invert computes the inverse of the basis by Gauss-Jordan elimination with
// partial pivoting; false when it has none. Every solve begins with it, so that
// rounding errors do not last.
func (x *Bounded) invert() bool {
	var b [vec.MaxDims]vec.Reals
	for c := range x.n {
		col := x.column(x.Column[c])
		for r := range x.n {
			b[r][c] = col[r]
		}
		clear(x.inv[c][:x.n])
		x.inv[c][c] = 1
	}
	for c := range x.n {
		at := c
		for r := c + 1; r < x.n; r++ {
			if math.Abs(b[r][c]) > math.Abs(b[at][c]) {
				at = r
			}
		}
		if math.Abs(b[at][c]) < singular {
			return false
		}
		b[c], b[at] = b[at], b[c]
		x.inv[c], x.inv[at] = x.inv[at], x.inv[c]
		x.eliminate(&b, c)
	}
	return true
}

// eliminate makes column c of b a unit column, and does the same to the inverse.
func (x *Bounded) eliminate(b *[vec.MaxDims]vec.Reals, c int) {
	scale := 1 / b[c][c]
	for q := range x.n {
		b[c][q] *= scale
		x.inv[c][q] *= scale
	}
	for r := range x.n {
		f := b[r][c]
		if r == c || f == 0 {
			continue
		}
		for q := range x.n {
			b[r][q] -= float64(f * b[c][q])
			x.inv[r][q] -= float64(f * x.inv[c][q])
		}
	}
}

// exchange puts variable v in the place of the basic one at position out. It
// reports false when the pivot is too small.
func (x *Bounded) exchange(out int, v int32) bool {
	col := x.column(v)
	var u vec.Reals
	for q := range x.n {
		for r := range x.n {
			u[q] += float64(x.inv[q][r] * col[r])
		}
	}
	if math.Abs(u[out]) < smallPivot {
		return false
	}
	scale := 1 / u[out]
	for r := range x.n {
		x.inv[out][r] *= scale
	}
	for q := range x.n {
		if q == out || u[q] == 0 {
			continue
		}
		for r := range x.n {
			x.inv[q][r] -= float64(u[q] * x.inv[out][r])
		}
	}
	x.Column[out] = v
	return true
}
