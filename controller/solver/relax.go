package solver

// relaxed is the optimum of a filling with fractions of pods: the price of
// every resource, and for each resource the row that is in the solution
// because of it (negative: none) with its amount.
type relaxed struct {
	price  [maxDims]float64
	row    [maxDims]int32
	amount [maxDims]float64
}

// maxRelaxSteps ends a simplex that cycles; the usual number is about five.
const maxRelaxSteps = 32

// relax solves max worth.a, requests.a <= room, a >= 0 over the rows, by a
// revised simplex with one row per resource.
func (k *packer) relax(rows []int32, room *vec) (sol relaxed) {
	var inv [maxDims][maxDims]float64
	var value [maxDims]float64
	n := k.n
	for r := range n {
		inv[r][r] = 1
		sol.amount[r] = float64(float64(room[r]) * k.p.scale[r])
		sol.row[r] = -1 - int32(r)
	}
	for range maxRelaxSteps {
		for r := range n {
			sol.price[r] = 0
			for q := range n {
				sol.price[r] += float64(value[q] * inv[q][r])
			}
		}
		enter, slack := k.entering(rows, &sol.price)
		if enter < 0 && slack < 0 {
			break
		}
		var col, u [maxDims]float64
		if slack >= 0 {
			col[slack] = 1
		} else {
			col = k.reqs[enter]
		}
		leave := -1
		least := 0.0
		for r := range n {
			for q := range n {
				u[r] += float64(inv[r][q] * col[q])
			}
			if u[r] > 1e-12 {
				if t := sol.amount[r] / u[r]; leave < 0 || t < least {
					leave, least = r, t
				}
			}
		}
		if leave < 0 {
			break
		}
		for q := range n {
			inv[leave][q] /= u[leave]
		}
		for r := range n {
			if r == leave || u[r] == 0 {
				continue
			}
			for q := range n {
				inv[r][q] -= float64(u[r] * inv[leave][q])
			}
			sol.amount[r] -= float64(least * u[r])
		}
		sol.amount[leave] = least
		if slack >= 0 {
			sol.row[leave], value[leave] = -1-int32(slack), 0
		} else {
			sol.row[leave], value[leave] = enter, k.worth[enter]
		}
	}
	return sol
}

// entering chooses the row worth most, in proportion, beyond the resources it
// takes, or else a resource of negative price.
func (k *packer) entering(rows []int32, price *[maxDims]float64) (row int32, slack int) {
	row, slack = -1, -1
	most := 1e-7
	for _, i := range rows {
		d, w := &k.reqs[i], k.worth[i]
		gain := w - float64(price[0]*d[0]) - float64(price[1]*d[1]) - float64(price[2]*d[2])
		for r := 3; r < k.n; r++ {
			gain -= float64(price[r] * d[r])
		}
		if gain > most*w {
			most, row = gain/w, i
		}
	}
	if row >= 0 {
		return row, -1
	}
	for r := range k.n {
		if price[r] < -1e-12 {
			slack = r
		}
	}
	return -1, slack
}
