package solver

import (
	"math"

	"spokeshave.dev/controller/core/solver/vec"
)

// relaxed is the optimum of a filling with fractions of pods.
type relaxed struct {
	// price is what the room is worth, by resource.
	price vec.Reals
	// row and amount are the basic solution: for each resource the item that is
	// in it, negative for unused room.
	row    [vec.MaxDims]int32
	amount vec.Reals
	// fullItems lists the items of which all pods are taken.
	fullItems []int32
	// value bounds the worth of any filling from above.
	value float64
}

// simplex solves max worth.a, requests.a <= room, 0 <= a <= left: a dual
// simplex with one row per resource, where every variable, unused room
// included, has two bounds. Any basis will then do for a start, and the one
// that was best for the bin type the last time is a step or two away from what is
// best now.
type simplex struct {
	*packer
	t *binType
	// n is the number of resources that the bin type's items ask for.
	n        int
	rows     []int32
	inv      [vec.MaxDims]vec.Reals
	capacity vec.Reals
	// gain is by position in items what a pod is worth beyond the room it takes.
	gain []float64
	// breaks are the prices' breakpoints in the direction of a step.
	breaks []breakpoint
	relaxed
}

// breakpoint is where a variable that is not basic wants to change its bound.
type breakpoint struct {
	at    float64
	drop  float64 // of the slope beyond it
	row   int32   // negative for unused room
	alpha float64
}

// maxSteps bounds the steps of one relaxation; the prices at hand bound the
// value wherever it stops.
const maxSteps = 64

// relax fills a bin type with fractions of the items given.
func (k *packer) relax(t *binType, items []int32) relaxed {
	x := &k.scratch.simplex
	x.packer, x.t, x.n, x.rows, x.fullItems = k, t, t.n, items, x.fullItems[:0]
	for r := range k.n {
		x.row[r], x.price[r], x.amount[r] = -1-int32(r), 0, 0
	}
	for r := range x.n {
		x.capacity[r] = float64(float64(t.capacity[r]) * k.p.scale[r])
		x.row[r] = -1 - int32(r)
		if i := t.basis[r]; i > 0 && k.left[i-1] > 0 && k.duals[i-1] > 0 {
			x.row[r] = i - 1
		}
	}
	if !x.invert() {
		for r := range x.n {
			x.row[r] = -1 - int32(r)
		}
		x.invert()
	}
	for range maxSteps + len(items) {
		x.settle()
		out, over := x.violated()
		if out < 0 || !x.step(out, over) {
			break
		}
	}
	for r := range x.n {
		x.price[r] = max(0, x.price[r])
		t.basis[r] = max(0, x.row[r]+1)
	}
	x.value = k.atPrices(t, items, &x.price)
	for q, i := range items {
		if x.gain[q] > 0 && !x.basic(i) {
			x.fullItems = append(x.fullItems, i)
		}
	}
	t.resourcePrices = x.price
	return x.relaxed
}

func (x *simplex) basic(row int32) bool {
	for r := range x.n {
		if x.row[r] == row {
			return true
		}
	}
	return false
}

// column is a variable's column.
func (x *simplex) column(v int32) (col vec.Reals) {
	if v < 0 {
		col[-1-v] = 1
		return col
	}
	return x.reqs[v]
}

// invert computes the inverse of the basis; false when it has none.
func (x *simplex) invert() bool {
	var b [vec.MaxDims]vec.Reals
	for c := range x.n {
		col := x.column(x.row[c])
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
		if math.Abs(b[at][c]) < 1e-9 {
			return false
		}
		b[c], b[at] = b[at], b[c]
		x.inv[c], x.inv[at] = x.inv[at], x.inv[c]
		x.eliminate(&b, c)
	}
	return true
}

// eliminate makes column c of b a unit column, and does the same to the inverse.
func (x *simplex) eliminate(b *[vec.MaxDims]vec.Reals, c int) {
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

// settle computes prices, gains and amounts of the basis: what gains is taken
// in full, what does not is left out, and the basic variables make up for it.
func (x *simplex) settle() {
	x.prices()
	rest := x.capacity
	x.gain = x.gain[:0]
	for _, i := range x.rows {
		gain := x.packer.gain(i, x.n, &x.price)
		x.gain = append(x.gain, gain)
		if gain > 0 && !x.basic(i) {
			n, d := float64(x.upTo(i)), &x.reqs[i]
			for r := range x.n {
				rest[r] -= float64(n * d[r])
			}
		}
	}
	for r := range x.n {
		if x.price[r] < 0 && !x.basic(-1-int32(r)) {
			rest[r] -= x.capacity[r]
		}
	}
	for q := range x.n {
		x.amount[q] = 0
		for r := range x.n {
			x.amount[q] += float64(x.inv[q][r] * rest[r])
		}
	}
}

// prices are what the basis makes the room worth.
func (x *simplex) prices() {
	for r := range x.n {
		x.price[r] = 0
	}
	for q := range x.n {
		if v := x.row[q]; v >= 0 {
			for r := range x.n {
				x.price[r] += float64(x.duals[v] * x.inv[q][r])
			}
		}
	}
}

// most is the upper bound of a variable.
func (x *simplex) most(v int32) float64 {
	if v < 0 {
		return x.capacity[-1-v]
	}
	return float64(x.upTo(v))
}

// violated is the basic variable farthest outside its bounds, in proportion to
// them, and by how much: negative below 0. -1 when all are within.
func (x *simplex) violated() (out int, over float64) {
	out = -1
	worst := 1e-7
	for q := range x.n {
		most := x.most(x.row[q])
		by := 0.0
		switch a := x.amount[q]; {
		case a < 0:
			by = a
		case a > most:
			by = a - most
		}
		if v := math.Abs(by) / max(1, most); v > worst {
			worst, out, over = v, q, by
		}
	}
	return out, over
}

// step lets the basic variable at position out leave for the bound it broke,
// and moves the prices until that stops paying, past variables that change
// their bound on the way. It reports false when nothing can enter.
func (x *simplex) step(out int, over float64) bool {
	// Prices move along the inverse's row: down it when too much is taken, so
	// that the leaving variable gains.
	dir := &x.inv[out]
	sign := 1.0
	if over < 0 {
		sign = -1
	}
	x.breaks = x.breaks[:0]
	d0, d1, d2 := dir[0], dir[1], dir[2]
	for q, i := range x.rows {
		d := &x.reqs[i]
		alpha := float64(d0*d[0]) + float64(d1*d[1]) + float64(d2*d[2])
		for r := 3; r < x.n; r++ {
			alpha += float64(dir[r] * d[r])
		}
		alpha *= sign
		if gain := x.gain[q]; changes(gain, alpha) && !x.basic(i) {
			x.offer(gain, alpha, i)
		}
	}
	for r := range x.n {
		if v := -1 - int32(r); !x.basic(v) {
			x.offer(-x.price[r], sign*dir[r], v)
		}
	}
	if v, ok := blocking(x.breaks, math.Abs(over)); ok {
		return x.exchange(out, v)
	}
	return false
}

// blocking is the variable at whose breakpoint the slope is used up, the last
// one when it never is: a selection by halves, as there can be hundreds.
func blocking(list []breakpoint, slope float64) (v int32, ok bool) {
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
			return pivot.row, true
		}
		list = before
	}
	return list[0].row, true
}

// changes says whether a gain changes its sign on the way.
func changes(gain, alpha float64) bool {
	return alpha < -1e-12 && gain > 0 || alpha > 1e-12 && gain <= 0
}

// offer adds a breakpoint if a variable's gain changes its sign on the way.
func (x *simplex) offer(gain, alpha float64, v int32) {
	if changes(gain, alpha) {
		a := math.Abs(alpha)
		x.breaks = append(x.breaks, breakpoint{at: -gain / alpha, drop: float64(a * x.most(v)), row: v, alpha: a})
	}
}

// exchange puts variable v in the place of the basic one at position out.
func (x *simplex) exchange(out int, v int32) bool {
	col := x.column(v)
	var u vec.Reals
	for q := range x.n {
		for r := range x.n {
			u[q] += float64(x.inv[q][r] * col[r])
		}
	}
	if math.Abs(u[out]) < 1e-12 {
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
	x.row[out] = v
	return true
}

// atPrices bounds the worth of any filling, given prices of the room: what all
// of the room is worth and what pods are worth beyond the room they take.
func (k *packer) atPrices(t *binType, items []int32, price *vec.Reals) float64 {
	sum := 0.0
	for r := range t.n {
		sum += float64(price[r] * float64(float64(t.capacity[r])*k.p.scale[r]))
	}
	for _, i := range items {
		if gain := k.gain(i, t.n, price); gain > 0 {
			sum += float64(gain * float64(k.upTo(i)))
		}
	}
	return sum
}

// gain is what a pod of the item is worth beyond the room it takes of the first
// n resources.
func (k *packer) gain(i int32, n int, price *vec.Reals) float64 {
	d := &k.reqs[i]
	gain := k.duals[i] - float64(price[0]*d[0]) - float64(price[1]*d[1]) - float64(price[2]*d[2])
	for r := 3; r < n; r++ {
		gain -= float64(price[r] * d[r])
	}
	return gain
}
