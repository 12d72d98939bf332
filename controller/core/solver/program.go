package solver

import "math"

// program is the linear program of packing: take patterns, in fractions, so
// that every row's pods are covered at the least cost. It starts from patterns
// of one row each and asks fill for better ones as long as there are any
// (column generation). Its prices are the rows' worths: what one more pod of a
// row costs the plan.
type program struct {
	k *packer
	m int
	// inv is the inverse of the basis, by rows; basis holds its patterns, nil
	// for the surplus of a row, amount how much is taken of each.
	inv    []float64
	basis  []*pattern
	amount []float64
	// columns are all patterns met so far.
	columns []*pattern
	// smooth are worths averaged over passes: the patterns that they ask for
	// last longer than those of the moment.
	smooth []float64
	// most is the most that a pod of each row can be worth: its part of a node
	// of its own kind.
	most []float64

	// moves are those left.
	moves int

	u     []float64
	index []int32
	coef  []float64
}

func newProgram(k *packer) *program {
	m := len(k.rows)
	g := &program{
		k: k, m: m, inv: make([]float64, m*m), basis: make([]*pattern, m), amount: make([]float64, m),
		u: make([]float64, m), index: make([]int32, 0, m), coef: make([]float64, 0, m),
	}
	for s := range k.sites {
		t := &k.sites[s]
		for _, i := range t.plain {
			g.start(i, int32(s), many(&k.rows[i].req, &t.room, k.p.apart.most(k.rows[i].apart, k.rows[i].n), k.n))
		}
		for _, i := range t.ported {
			g.start(i, int32(s), 1)
		}
	}
	for i := range m {
		n := float64(g.basis[i].cnt[0])
		g.inv[i*m+i] = 1 / n
		// A tiny, uneven excess keeps pivots from standing still.
		g.amount[i] = float64(k.rows[i].n) / n * (1 + float64(1e-5*float64((i*7919)%101)/101))
		k.worth[i] = k.sites[g.basis[i].site].cost / n
	}
	g.smooth = append([]float64(nil), k.worth...)
	g.most = append([]float64(nil), k.worth...)
	g.columns = append([]*pattern(nil), g.basis...)
	return g
}

// start puts n pods of one row on a site into the basis where that is cheapest.
func (g *program) start(i, s, n int32) {
	old := g.basis[i]
	if old == nil || g.k.sites[s].cost*float64(old.cnt[0]) < g.k.sites[old.site].cost*float64(n) {
		g.basis[i] = &pattern{site: s, idx: []int32{i}, cnt: []int32{n}}
	}
}

// worthOf is what the pods of a pattern are worth at the present prices.
func (k *packer) worthOf(f *pattern) float64 {
	v := 0.0
	for j, i := range f.idx {
		v += float64(k.worth[i] * float64(f.cnt[j]))
	}
	return v
}

// run improves until no pattern is worth more than 1+tol times its cost, or
// the moves are spent.
func (g *program) run(moves int, tol float64) {
	k := g.k
	g.moves = moves
	for g.moves > 0 {
		found := g.find(tol)
		if len(found) == 0 {
			break
		}
		most := 0.0
		for _, f := range found {
			most = max(most, f.value/k.sites[f.site].cost-1)
		}
		least := max(tol, most*0.1)
		n := 0
		for _, f := range found {
			if f.value/k.sites[f.site].cost-1 > least {
				found[n] = f
				n++
			}
		}
		g.exhaust(found[:n], least)
	}
	for j, f := range g.basis {
		if f != nil {
			f.x = g.amount[j]
		}
	}
	for i := range k.worth {
		k.worth[i] = max(k.worth[i], 1e-9)
	}
}

// find looks for patterns worth more than they cost: among those met before,
// then by filling the sites.
func (g *program) find(tol float64) []*pattern {
	k := g.k
	var out []*pattern
	good := func(list []*pattern) {
		for _, f := range list {
			if f.value = k.worthOf(f); f.value > (1+tol)*k.sites[f.site].cost {
				out = append(out, f)
			}
		}
	}
	good(g.columns)
	if len(out) >= 8 {
		return out
	}
	known := len(out)
	now := k.worth
	for i := range g.smooth {
		g.smooth[i] = float64(0.6*g.smooth[i]) + float64(0.4*max(min(now[i], g.most[i]), 0))
	}
	k.worth = g.smooth
	g.pass()
	asked := k.fillings(0.98)
	k.worth = now
	good(asked)
	if len(out)-known < 3 {
		for i := range g.smooth {
			g.smooth[i] = min(now[i], g.most[i])
		}
		k.worth = g.smooth
		g.pass()
		asked := k.fillings(1 + tol)
		k.worth = now
		good(asked)
	}
	g.columns = append(g.columns, out[known:]...)
	return out
}

// pass counts a look at all sites: some hundred moves when there are many of
// them and many rows, a few when not.
func (g *program) pass() {
	g.k.stats.Passes++
	g.moves -= 1 + len(g.k.sites)*g.m/100
}

// exhaust pivots on the given patterns until none is worth least more than its
// cost.
func (g *program) exhaust(found []*pattern, least float64) {
	k := g.k
	for g.moves > 0 {
		slack, below := -1, -1e-9
		for i, w := range k.worth {
			if w < below {
				slack, below = i, w
			}
		}
		if slack >= 0 {
			if !g.pivot(nil, slack, below) {
				return
			}
			continue
		}
		var best *pattern
		most := least
		for _, f := range found {
			f.value = k.worthOf(f)
			if v := f.value/k.sites[f.site].cost - 1; v > most {
				most, best = v, f
			}
		}
		if best == nil || !g.pivot(best, -1, k.sites[best.site].cost-best.value) {
			return
		}
	}
}

// pivot brings a pattern, or the surplus of a row, into the basis. gain is its
// reduced cost. It reports false when nothing can leave.
func (g *program) pivot(f *pattern, slack int, gain float64) bool {
	m := g.m
	for j := range g.u {
		row := g.inv[j*m : j*m+m]
		if f == nil {
			g.u[j] = -row[slack]
			continue
		}
		v := 0.0
		for q, i := range f.idx {
			v += float64(row[i] * float64(f.cnt[q]))
		}
		g.u[j] = v
	}
	leave, step := -1, math.Inf(1)
	for j, v := range g.u {
		if v > 1e-9 {
			t := g.amount[j] / v
			if t < step-1e-12 || t < step+1e-12 && v > g.u[leave] {
				step, leave = t, j
			}
		}
	}
	if leave < 0 {
		return false
	}
	g.k.stats.Pivots++
	g.moves--
	g.replace(leave, max(step, 0), gain)
	g.basis[leave] = f
	return true
}

// replace updates inverse, amounts and prices for a new pattern at position
// leave of the basis.
func (g *program) replace(leave int, step, gain float64) {
	m := g.m
	pivot := g.inv[leave*m : leave*m+m]
	scale := 1 / g.u[leave]
	g.index, g.coef = g.index[:0], g.coef[:0]
	for i, w := range pivot {
		w *= scale
		if w < 1e-13 && w > -1e-13 {
			pivot[i] = 0
			continue
		}
		pivot[i] = w
		g.index = append(g.index, int32(i))
		g.coef = append(g.coef, w)
		g.k.worth[i] += float64(gain * w)
	}
	dense := len(g.index)*2 > m
	for j, v := range g.u {
		if j == leave || v < 1e-13 && v > -1e-13 {
			continue
		}
		row := g.inv[j*m : j*m+m]
		if dense {
			for i, w := range pivot[:len(row)] {
				row[i] -= float64(v * w)
			}
		} else {
			for q, i := range g.index {
				row[i] -= float64(v * g.coef[q])
			}
		}
		g.amount[j] -= float64(step * v)
	}
	g.amount[leave] = step
}

// ceiling bounds the worth of any filling of a site when all pods wait: without
// pods that want to be alone, and with each of the first clique of them.
func (k *packer) ceiling(t *site) float64 {
	if len(t.ported) == 0 {
		return k.relax(t, t.plain).value
	}
	rest := *t
	for len(rest.ported) > 0 && k.clique[rest.ported[0]] == k.clique[t.ported[0]] {
		rest.ported = rest.ported[1:]
	}
	sol := k.relax(&rest, t.plain)
	t.hint, t.basis = rest.hint, rest.basis
	best := sol.value + k.portedGain(&rest, &sol.price)
	for _, i := range t.ported[:len(t.ported)-len(rest.ported)] {
		left := rest
		left.room.add(&k.rows[i].req, -1)
		sol := k.relax(&left, t.plain)
		best = max(best, k.worth[i]+sol.value+k.portedGain(&left, &sol.price))
	}
	return best
}
