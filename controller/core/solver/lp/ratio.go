package lp

import "math"

// breakpoint is where a variable that is not basic changes its bound, as prices
// move.
type breakpoint struct {
	at float64
	// drop is how much less the objective improves beyond it.
	drop  float64
	v     int32
	alpha float64
}

type breakpoints []breakpoint

// step lets the basic variable at position out leave for the bound it broke,
// and moves the prices until that stops paying, past variables that change
// their bound on the way (the bound flipping ratio test). It reports false when
// nothing can enter.
func (x *Bounded) step(out int, over float64) bool {
	// Prices move along the inverse's row: down it when too much is taken, so
	// that the leaving variable gains.
	dir := &x.inv[out]
	sign := 1.0
	if over < 0 {
		sign = -1
	}
	x.breaks = x.breaks[:0]
	d0, d1, d2 := dir[0], dir[1], dir[2]
	for q, j := range x.subset {
		d := &x.Use[j]
		alpha := float64(d0*d[0]) + float64(d1*d[1]) + float64(d2*d[2])
		for r := 3; r < x.n; r++ {
			alpha += float64(dir[r] * d[r])
		}
		alpha *= sign
		if gain := x.gain[q]; changes(gain, alpha) && !x.basic(j) {
			x.offer(gain, alpha, j)
		}
	}
	for r := range x.n {
		if v := -1 - int32(r); !x.basic(v) {
			x.offer(-x.Price[r], sign*dir[r], v)
		}
	}
	if v, ok := x.breaks.blocking(math.Abs(over)); ok {
		return x.exchange(out, v)
	}
	return false
}

// changes reports whether a gain changes its sign on the way.
func changes(gain, alpha float64) bool {
	return alpha < -smallPivot && gain > 0 || alpha > smallPivot && gain <= 0
}

// offer adds a breakpoint if a variable's gain changes its sign on the way.
func (x *Bounded) offer(gain, alpha float64, v int32) {
	if changes(gain, alpha) {
		a := math.Abs(alpha)
		x.breaks = append(x.breaks, breakpoint{at: -gain / alpha, drop: float64(a * x.upper(v)), v: v, alpha: a})
	}
}

// blocking is the variable at whose breakpoint the slope is used up, the last
// one when it never is: a selection by halves, as there can be hundreds, and
// sorting them was the larger part of a solve. It reorders the list.
func (list breakpoints) blocking(slope float64) (v int32, ok bool) {
	if len(list) == 0 {
		return 0, false
	}
	for len(list) > 1 {
		list[0], list[len(list)/2] = list[len(list)/2], list[0]
		pivot, n, drop := list[0], 0, list[0].drop
		for i := 1; i < len(list); i++ {
			if b := list[i]; b.at < pivot.at || b.at == pivot.at && b.alpha > pivot.alpha {
				n++
				list[i], list[n] = list[n], list[i]
				drop += b.drop
			}
		}
		before := list[1 : n+1] // those that come first
		if drop < slope && n+1 < len(list) {
			slope -= drop
			list = list[n+1:]
			continue
		}
		if n == 0 || drop-pivot.drop < slope {
			return pivot.v, true
		}
		list = before
	}
	return list[0].v, true
}
