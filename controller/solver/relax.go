package solver

// relaxed is the optimum of a filling with fractions of pods.
type relaxed struct {
	// price is what the room is worth, by resource.
	price [maxDims]float64
	// row and amount are the basic solution: for each resource the row that is
	// in it, negative for unused room.
	row    [maxDims]int32
	amount [maxDims]float64
	// full lists the rows of which all pods are taken.
	full []int32
	// value bounds the worth of any filling from above.
	value float64
}

// simplex solves max worth.a, requests.a <= room, 0 <= a <= left: a revised
// simplex with one row per resource and bounds on the variables.
type simplex struct {
	*packer
	// n is the number of resources that the site's rows ask for.
	n    int
	rows []int32
	inv  [maxDims][maxDims]float64
	cost [maxDims]float64 // worth of the basic variables
	// likely are rows that gained when all were last looked at.
	likely []int32
	ring   [8]int32
	relaxed
}

// Where a row's amount is while it is not basic.
const (
	atZero int8 = iota
	atMost
	basic
)

// relax fills a site with fractions of the rows given. It starts from the
// prices of the last time, which are near those to expect.
func (k *packer) relax(t *site, rows []int32) relaxed {
	x := &k.scratch.simplex
	x.packer, x.n, x.rows, x.likely, x.full = k, t.n, rows, nil, x.full[:0]
	for r := range k.n {
		x.row[r], x.price[r] = -1-int32(r), 0
	}
	for r := range x.n {
		clear(x.inv[r][:x.n])
		x.inv[r][r], x.cost[r] = 1, 0
		x.amount[r] = float64(float64(t.room[r]) * k.p.scale[r])
	}
	state := k.scratch.state
	x.crash(&t.hint)
	for range 2*len(rows) + 32 {
		x.prices()
		enter, slack := x.entering()
		if enter < 0 && slack < 0 {
			break
		}
		if !x.step(enter, slack) {
			break
		}
	}
	for r := range x.n {
		x.price[r] = max(0, x.price[r])
	}
	x.value = k.atPrices(t, rows, &x.price)
	for _, i := range rows {
		if state[i] == atMost {
			x.full = append(x.full, i)
		}
		state[i] = atZero
	}
	t.hint = x.price
	return x.relaxed
}

// atPrices bounds the worth of any filling, given prices of the room: what all
// of the room is worth and what pods are worth beyond the room they take.
func (k *packer) atPrices(t *site, rows []int32, price *[maxDims]float64) float64 {
	sum := 0.0
	for r := range t.n {
		sum += float64(price[r] * float64(float64(t.room[r])*k.p.scale[r]))
	}
	for _, i := range rows {
		if gain := k.gain(i, t.n, price); gain > 0 {
			sum += float64(gain * float64(k.left[i]))
		}
	}
	return sum
}

// crash takes all pods of the rows that gain at the prices expected, as far as
// they fit, which spares the simplex a step for each.
func (x *simplex) crash(hint *[maxDims]float64) {
	if *hint == [maxDims]float64{} {
		return
	}
next:
	for _, i := range x.rows {
		if x.gain(i, x.n, hint) <= 1e-7*x.worth[i] {
			continue
		}
		d, n := &x.reqs[i], float64(x.left[i])
		for r := range x.n {
			if float64(n*d[r]) > x.amount[r] {
				continue next
			}
		}
		for r := range x.n {
			x.amount[r] -= float64(n * d[r])
		}
		x.scratch.state[i] = atMost
	}
}

func (x *simplex) prices() {
	for r := range x.n {
		x.price[r] = 0
		for q := range x.n {
			x.price[r] += float64(x.cost[q] * x.inv[q][r])
		}
	}
}

// gain is what a pod of the row is worth beyond the room it takes of the first
// n resources.
func (k *packer) gain(i int32, n int, price *[maxDims]float64) float64 {
	d := &k.reqs[i]
	gain := k.worth[i] - float64(price[0]*d[0]) - float64(price[1]*d[1]) - float64(price[2]*d[2])
	for r := 3; r < n; r++ {
		gain -= float64(price[r] * d[r])
	}
	return gain
}

// entering chooses the row that gains most, in proportion, by moving off its
// bound, or else unused room of negative price. Rows seen to gain are tried
// again before all are looked at.
func (x *simplex) entering() (row int32, slack int) {
	row, slack = -1, -1
	most := 1e-7
	for _, i := range x.likely {
		if gain := x.off(i); gain > most {
			most, row = gain, i
		}
	}
	if row >= 0 {
		return row, -1
	}
	n := 0
	for _, i := range x.rows {
		gain := x.off(i)
		if gain <= 1e-7 {
			continue
		}
		if gain > most {
			most, row = gain, i
		}
		x.ring[n%len(x.ring)] = i
		n++
	}
	x.likely = x.ring[:min(n, len(x.ring))]
	if row >= 0 {
		return row, -1
	}
	for r := range x.n {
		if x.price[r] < -1e-12 {
			slack = r
		}
	}
	return -1, slack
}

// off is what a row gains, in proportion, by moving off its bound.
func (x *simplex) off(i int32) float64 {
	gain := float64(x.gain(i, x.n, &x.price) * x.scratch.per[i])
	switch x.scratch.state[i] {
	case basic:
		return 0
	case atMost:
		return -gain
	}
	return gain
}

// step moves the entering variable until it, or a basic one, meets a bound. It
// reports false when nothing stops it.
func (x *simplex) step(enter int32, slack int) bool {
	var u [maxDims]float64
	state := x.scratch.state
	sign, limit := 1.0, -1.0
	for r := range x.n {
		if slack >= 0 {
			u[r] = x.inv[r][slack]
			continue
		}
		for q := range x.n {
			u[r] += float64(x.inv[r][q] * x.reqs[enter][q])
		}
	}
	if slack < 0 {
		limit = float64(x.left[enter])
		if state[enter] == atMost {
			sign = -1
		}
	}
	leave, least, top := x.blocking(&u, sign)
	if limit >= 0 && (leave < 0 || limit <= least) { // it meets its other bound first
		for r := range x.n {
			x.amount[r] -= float64(sign * limit * u[r])
		}
		state[enter] ^= atMost
		return true
	}
	if leave < 0 {
		return false
	}
	x.pivot(leave, &u, sign*least)
	if old := x.row[leave]; old >= 0 {
		if state[old] = atZero; top {
			state[old] = atMost
		}
	}
	if slack >= 0 {
		x.row[leave], x.cost[leave], x.amount[leave] = -1-int32(slack), 0, least
		return true
	}
	x.row[leave], x.cost[leave], x.amount[leave] = enter, x.worth[enter], least
	if sign < 0 {
		x.amount[leave] = limit - least
	}
	state[enter] = basic
	return true
}

// blocking is the basic variable that first meets a bound, how far that lets
// the entering one go, and whether it is the upper bound.
func (x *simplex) blocking(u *[maxDims]float64, sign float64) (leave int, least float64, top bool) {
	leave = -1
	for r := range x.n {
		d := sign * u[r]
		t, upper := 0.0, false
		switch {
		case d > 1e-12:
			t = x.amount[r] / d
		case d < -1e-12 && x.row[r] >= 0:
			t, upper = (float64(x.left[x.row[r]])-x.amount[r])/-d, true
		default:
			continue
		}
		if t = max(0, t); leave < 0 || t < least {
			leave, least, top = r, t, upper
		}
	}
	return leave, least, top
}

// pivot makes row leave of the basis the entering variable's.
func (x *simplex) pivot(leave int, u *[maxDims]float64, move float64) {
	scale := 1 / u[leave]
	for q := range x.n {
		x.inv[leave][q] *= scale
	}
	for r := range x.n {
		if r == leave || u[r] == 0 {
			continue
		}
		for q := range x.n {
			x.inv[r][q] -= float64(u[r] * x.inv[leave][q])
		}
		x.amount[r] -= float64(move * u[r])
	}
}
