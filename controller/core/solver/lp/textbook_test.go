package lp_test

import "math"

// maximize is max c.x, A.x <= b, x >= 0, for b >= 0, by the simplex as textbooks
// have it: a dense tableau, and Bland's rule, which never cycles. It is what the
// package is held to, and shares nothing with it.
func maximize(c []float64, a [][]float64, b []float64) float64 {
	rows, n := len(a), len(c)
	t := make([][]float64, rows+1)
	for i := range rows {
		t[i] = make([]float64, n+rows+1)
		copy(t[i], a[i])
		t[i][n+i] = 1
		t[i][n+rows] = b[i]
		scale := 1e-300
		for _, v := range t[i][:n] {
			scale = max(scale, math.Abs(v))
		}
		for j := range t[i] { // a row of any scale is as good as another
			if j != n+i {
				t[i][j] /= scale
			}
		}
	}
	t[rows] = make([]float64, n+rows+1)
	for j := range c {
		t[rows][j] = -c[j]
	}
	for {
		enter := -1
		for j := range n + rows {
			if t[rows][j] < -1e-10 {
				enter = j
				break
			}
		}
		if enter < 0 {
			return t[rows][n+rows]
		}
		leave := ratioTest(t, enter)
		if leave < 0 {
			return math.Inf(1)
		}
		pivot(t, leave, enter)
	}
}

// ratioTest is the row that blocks the entering column first, the first one of
// several: Bland's rule asks for the lowest basic variable, which rows of slacks
// that enter at most once approximate well enough for small programs.
func ratioTest(t [][]float64, enter int) int {
	leave, last := -1, len(t[0])-1
	for i := range t[:len(t)-1] {
		if t[i][enter] <= 1e-9 {
			continue
		}
		if leave < 0 || t[i][last]/t[i][enter] < t[leave][last]/t[leave][enter] {
			leave = i
		}
	}
	return leave
}

func pivot(t [][]float64, leave, enter int) {
	scale := t[leave][enter]
	for j := range t[leave] {
		t[leave][j] /= scale
	}
	for i := range t {
		if f := t[i][enter]; i != leave && f != 0 {
			for j := range t[i] {
				t[i][j] -= f * t[leave][j]
			}
		}
	}
}
