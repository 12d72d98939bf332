package solver

import (
	"math"

	"spokeshave.dev/controller/core/solver/vec"
)

// restrictedMaster is the linear program of packing: take patterns, in fractions, so
// that every item's pods are covered at the least cost. It starts from patterns
// of one item each and asks fill for better ones as long as there are any
// (column generation). Its prices are the items' duals: what one more pod of a
// item costs the plan.
type restrictedMaster struct {
	k *packer
	m int
	// inv is the inverse of the basis, by rows; basis holds its patterns, nil
	// for the surplus of an item, amount how much is taken of each.
	inv    []float64
	basis  []*pattern
	amount []float64
	// columns are all patterns met so far.
	columns []*pattern
	// smoothedDuals are duals averaged over passes: the patterns that they ask for
	// last longer than those of the moment.
	smoothedDuals []float64
	// dualLimit is the most that a pod of each item can be worth: its part of a node
	// of its own kind.
	dualLimit []float64

	// moves are those left.
	moves int

	u     []float64
	index []int32
	coef  []float64
}

func newRestrictedMaster(k *packer) *restrictedMaster {
	m := len(k.items)
	g := &restrictedMaster{
		k: k, m: m, inv: make([]float64, m*m), basis: make([]*pattern, m), amount: make([]float64, m),
		u: make([]float64, m), index: make([]int32, 0, m), coef: make([]float64, 0, m),
	}
	for s := range k.binTypes {
		t := &k.binTypes[s]
		for _, i := range t.sharedItems {
			g.start(i, int32(s), vec.MaxCopies(&k.items[i].request, &t.capacity, k.p.conflicts.Limit(k.items[i].conflict, k.items[i].n), k.n))
		}
		for _, i := range t.exclusiveItems {
			g.start(i, int32(s), 1)
		}
	}
	for i := range m {
		n := float64(g.basis[i].counts[0])
		g.inv[i*m+i] = 1 / n
		// A tiny, uneven excess keeps pivots from standing still.
		g.amount[i] = float64(k.items[i].n) / n * (1 + float64(1e-5*float64((i*7919)%101)/101))
		k.duals[i] = k.binTypes[g.basis[i].binType].cost / n
	}
	g.smoothedDuals = append([]float64(nil), k.duals...)
	g.dualLimit = append([]float64(nil), k.duals...)
	g.columns = append([]*pattern(nil), g.basis...)
	return g
}

// start puts n pods of one item on a bin type into the basis where that is cheapest.
func (g *restrictedMaster) start(i, s, n int32) {
	old := g.basis[i]
	if old == nil || g.k.binTypes[s].cost*float64(old.counts[0]) < g.k.binTypes[old.binType].cost*float64(n) {
		g.basis[i] = &pattern{binType: s, items: []int32{i}, counts: []int32{n}}
	}
}

// patternValue is what the pods of a pattern are worth at the present prices.
func (k *packer) patternValue(f *pattern) float64 {
	v := 0.0
	for j, i := range f.items {
		v += float64(k.duals[i] * float64(f.counts[j]))
	}
	return v
}

// run improves until no pattern is worth more than 1+tol times its cost, or
// the moves are spent.
func (g *restrictedMaster) run(moves int, tol float64) {
	k := g.k
	g.moves = moves
	for g.moves > 0 {
		found := g.newColumns(tol)
		if len(found) == 0 {
			break
		}
		most := 0.0
		for _, f := range found {
			most = max(most, f.value/k.binTypes[f.binType].cost-1)
		}
		least := max(tol, most*0.1)
		n := 0
		for _, f := range found {
			if f.value/k.binTypes[f.binType].cost-1 > least {
				found[n] = f
				n++
			}
		}
		g.reoptimize(found[:n], least)
	}
	for j, f := range g.basis {
		if f != nil {
			f.amount = g.amount[j]
		}
	}
	for i := range k.duals {
		k.duals[i] = max(k.duals[i], 1e-9)
	}
}

// newColumns looks for patterns worth more than they cost: among those met before,
// then by filling the bin types.
func (g *restrictedMaster) newColumns(tol float64) []*pattern {
	k := g.k
	var out []*pattern
	good := func(list []*pattern) {
		for _, f := range list {
			if f.value = k.patternValue(f); f.value > (1+tol)*k.binTypes[f.binType].cost {
				out = append(out, f)
			}
		}
	}
	good(g.columns)
	if len(out) >= 8 {
		return out
	}
	known := len(out)
	now := k.duals
	for i := range g.smoothedDuals {
		g.smoothedDuals[i] = float64(0.6*g.smoothedDuals[i]) + float64(0.4*max(min(now[i], g.dualLimit[i]), 0))
	}
	k.duals = g.smoothedDuals
	g.pass()
	asked := k.improvingPatterns(0.98)
	k.duals = now
	good(asked)
	if len(out)-known < 3 {
		for i := range g.smoothedDuals {
			g.smoothedDuals[i] = min(now[i], g.dualLimit[i])
		}
		k.duals = g.smoothedDuals
		g.pass()
		asked := k.improvingPatterns(1 + tol)
		k.duals = now
		good(asked)
	}
	g.columns = append(g.columns, out[known:]...)
	return out
}

// pass counts a look at all bin types: some hundred moves when there are many of
// them and many items, a few when not.
func (g *restrictedMaster) pass() {
	g.k.stats.Passes++
	g.moves -= 1 + len(g.k.binTypes)*g.m/100
}

// reoptimize pivots on the given patterns until none is worth least more than its
// cost.
func (g *restrictedMaster) reoptimize(found []*pattern, least float64) {
	k := g.k
	for g.moves > 0 {
		slack, below := -1, -1e-9
		for i, w := range k.duals {
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
			f.value = k.patternValue(f)
			if v := f.value/k.binTypes[f.binType].cost - 1; v > most {
				most, best = v, f
			}
		}
		if best == nil || !g.pivot(best, -1, k.binTypes[best.binType].cost-best.value) {
			return
		}
	}
}

// pivot brings a pattern, or the surplus of an item, into the basis. gain is its
// reduced cost. It reports false when nothing can leave.
func (g *restrictedMaster) pivot(f *pattern, slack int, gain float64) bool {
	m := g.m
	for j := range g.u {
		row := g.inv[j*m : j*m+m]
		if f == nil {
			g.u[j] = -row[slack]
			continue
		}
		v := 0.0
		for q, i := range f.items {
			v += float64(row[i] * float64(f.counts[q]))
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
func (g *restrictedMaster) replace(leave int, step, gain float64) {
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
		g.k.duals[i] += float64(gain * w)
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

// ceiling bounds the worth of any filling of a bin type when all pods wait: without
// pods that want to be alone, and with each of the first clique of them.
func (k *packer) ceiling(t *binType) float64 {
	if len(t.exclusiveItems) == 0 {
		return k.relax(t, t.sharedItems).value
	}
	rest := *t
	for len(rest.exclusiveItems) > 0 && k.clique[rest.exclusiveItems[0]] == k.clique[t.exclusiveItems[0]] {
		rest.exclusiveItems = rest.exclusiveItems[1:]
	}
	sol := k.relax(&rest, t.sharedItems)
	t.resourcePrices, t.basis = rest.resourcePrices, rest.basis
	best := sol.value + k.exclusiveGain(&rest, &sol.price)
	for _, i := range t.exclusiveItems[:len(t.exclusiveItems)-len(rest.exclusiveItems)] {
		left := rest
		left.capacity.Add(&k.items[i].request, -1)
		sol := k.relax(&left, t.sharedItems)
		best = max(best, k.duals[i]+sol.value+k.exclusiveGain(&left, &sol.price))
	}
	return best
}
