package lp

import "spokeshave.dev/controller/core/solver/vec"

// UnitPrices solves max price.demand, row.price <= 1 for every row, price >= 0,
// over the first n resources: the most that a demand can be worth when no row is
// worth more than 1. It is the dual of buying the demand as a mixture of the
// rows, in fractions, at a cost of 1 each. A resource that no row has gets a
// price of 0. Rows are overwritten.
//
// A primal simplex with Dantzig's rule on a dense tableau, which starts at
// prices of 0 with the rows' slacks as the basis: O(rows x n) a pivot, rarely
// more than n pivots.
func UnitPrices(rows []vec.Reals, demand *vec.Reals, n int) (price vec.Reals) {
	t := tableau{n: n, lines: make([]line, len(rows)), gain: *demand}
	for s := range rows {
		t.lines[s] = line{a: &rows[s], right: 1, basic: -1}
	}
	for r := range t.column {
		t.column[r] = int32(r)
	}
	for range pivotsPerColumn * n {
		enter := t.entering()
		if enter < 0 {
			break
		}
		if leave := t.leaving(enter); leave >= 0 {
			t.pivot(enter, leave)
		} else {
			t.gain[enter] = 0 // no row has any of it
		}
	}
	for s := range t.lines {
		if r := t.lines[s].basic; r >= 0 {
			price[r] = max(0, t.lines[s].right)
		}
	}
	return price
}

// pivotsPerColumn bounds the pivots, in case degenerate ones go round in a
// circle: more than one a column is rarely needed.
const pivotsPerColumn = 8

// tableau is a simplex tableau with as many columns as resources.
type tableau struct {
	n     int
	lines []line
	// column names the variable in each column: a resource, -1 for a slack.
	column [vec.MaxDims]int32
	gain   vec.Reals
}

// line is a row of the tableau: its coefficients, right-hand side and basic
// variable, a resource or -1 for a slack.
type line struct {
	a     *vec.Reals
	right float64
	basic int32
}

func (t *tableau) entering() int {
	enter, most := -1, 1e-9
	for c := range t.n {
		if t.gain[c] > most {
			enter, most = c, t.gain[c]
		}
	}
	return enter
}

func (t *tableau) leaving(enter int) int {
	leave, least := -1, 0.0
	for s := range t.lines {
		if a := t.lines[s].a[enter]; a > smallPivot {
			if step := t.lines[s].right / a; leave < 0 || step < least {
				leave, least = s, step
			}
		}
	}
	return leave
}

func (t *tableau) pivot(enter, leave int) {
	out := &t.lines[leave]
	scale := 1 / out.a[enter]
	for c := range t.n {
		out.a[c] *= scale
	}
	out.a[enter] = scale
	out.right *= scale
	for s := range t.lines {
		f := t.lines[s].a[enter]
		if s == leave || f == 0 {
			continue
		}
		for c := range t.n {
			t.lines[s].a[c] -= float64(f * out.a[c])
		}
		t.lines[s].a[enter] = -float64(f * scale)
		t.lines[s].right -= float64(f * out.right)
	}
	f := t.gain[enter]
	for c := range t.n {
		t.gain[c] -= float64(f * out.a[c])
	}
	t.gain[enter] = -float64(f * scale)
	out.basic, t.column[enter] = t.column[enter], out.basic
}
