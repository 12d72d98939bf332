package packing

import (
	"cmp"
	"math"
	"slices"

	"spokeshave.dev/controller/core/solver/lp"
	"spokeshave.dev/controller/core/solver/vec"
)

// restrictedMaster prices items by column generation (Gilmore and Gomory): take
// patterns, in fractions, so that all items are covered at the least cost. It starts
// from patterns of one item each and asks the pricer for better ones as long as there
// are any. Its duals are what one more of each item costs.
type restrictedMaster struct {
	p       *pricer
	program *lp.Master
	// patterns are all patterns met so far, by column of the program.
	patterns []*Pattern
	// smooth are duals averaged over passes: the patterns that they ask for last
	// longer than those of the moment.
	smooth []float64
	// most is the most that each item can be worth: its part of a bin of its own
	// kind.
	most []float64
	// moves are those left.
	moves int
}

func newMaster(p *pricer) *restrictedMaster {
	start := make([]*Pattern, len(p.m.items))
	for k := range p.m.bins {
		b := &p.m.bins[k]
		for _, i := range b.plain {
			offer(p.m, start, i, int32(k), vec.MaxCopies(&p.m.items[i].Size, &b.capacity, p.m.most(i), p.m.n))
		}
		for _, i := range b.exclusive {
			offer(p.m, start, i, int32(k), 1)
		}
	}
	demand, columns := make([]int32, len(start)), make([]lp.Column, len(start))
	for i, f := range start {
		demand[i], columns[i] = p.m.items[i].Count, p.m.column(f)
	}
	g := &restrictedMaster{p: p, program: lp.NewMaster(demand, columns), patterns: start}
	copy(p.dual, g.program.Dual)
	g.smooth = slices.Clone(p.dual)
	g.most = slices.Clone(p.dual)
	return g
}

// offer starts from n of one item in a bin where that is cheapest.
func offer(m *model, start []*Pattern, i, at, n int32) {
	old := start[i]
	if old == nil || m.bins[at].cost*float64(old.Counts[0]) < m.bins[old.Bin].cost*float64(n) {
		start[i] = &Pattern{Bin: at, Items: []int32{i}, Counts: []int32{n}}
	}
}

// column is a pattern as a column of the program.
func (m *model) column(f *Pattern) lp.Column {
	return lp.Column{Rows: f.Items, Counts: f.Counts, Cost: m.bins[f.Bin].cost}
}

// promising is the part of the best gain of a pass that a pattern needs to enter
// with it: the others mostly are superseded before they would. 0 costs 0.05 %.
const promising = 0.1

// run improves until no pattern is worth more than 1+tolerance times its cost, or
// the moves are spent. Then the pricer has the duals.
func (g *restrictedMaster) run(moves int, tolerance float64) {
	g.moves = moves
	g.p.setDual(g.smooth)
	for g.moves > 0 {
		found := g.find(tolerance)
		if len(found) == 0 {
			if g.program.Mend() {
				continue
			}
			break
		}
		most := 0.0
		for _, c := range found {
			most = max(most, g.rate(c)-1)
		}
		least := max(tolerance, most*promising)
		found = slices.DeleteFunc(found, func(c int32) bool { return g.rate(c)-1 <= least })
		pivots := g.program.Reoptimize(found, least, g.moves)
		g.moves -= pivots
		g.p.stats.Pivots += pivots
	}
	dual := slices.Clone(g.program.Dual)
	for i, w := range dual {
		dual[i] = max(w, leastWorth)
	}
	g.p.setDual(dual)
}

// leastWorth is the dual, in cost, of items that the program packs for nothing: they
// still have to be packed.
const leastWorth = 1e-9

// rate is what a column is worth for its cost.
func (g *restrictedMaster) rate(c int32) float64 {
	return g.program.Value(c) / g.p.m.bins[g.patterns[c].Bin].cost
}

const (
	// enough is how many good patterns among those met before make a pass over all
	// bins needless; 1 costs 0.02 %.
	enough = 8
	// fewFound is how many new patterns of a pass by smoothed duals are too few: it
	// is followed by one by the duals of the moment; 1 costs 0.04 %.
	fewFound = 3
	// smoothing is the weight of the duals of the moment in the average (Wentges
	// 1997). Other weights changed costs by 1 to 2 % either way (docs/measurements/solver.md).
	smoothing = 0.4
	// nearlyWorth is the worth for its cost of a filling by smoothed duals that is
	// looked at by the duals of the moment; 0.9 takes 4 % more time.
	nearlyWorth = 0.98
)

// find looks for patterns worth more than they cost: among those met before, then
// by filling all bins.
func (g *restrictedMaster) find(tolerance float64) []int32 {
	var out []int32
	for c := range g.patterns {
		if g.pays(int32(c), tolerance) {
			out = append(out, int32(c))
		}
	}
	if len(out) >= enough {
		return out
	}
	now, known := g.program.Dual, len(out)
	for i := range g.smooth {
		g.smooth[i] = float64((1-smoothing)*g.smooth[i]) + float64(smoothing*max(min(now[i], g.most[i]), 0))
	}
	out = g.add(g.pass(nearlyWorth), tolerance, out)
	if len(out)-known < fewFound {
		for i := range g.smooth {
			g.smooth[i] = min(now[i], g.most[i])
		}
		out = g.add(g.pass(1+tolerance), tolerance, out)
	}
	return out
}

// pays reports whether a column is worth more than its cost.
func (g *restrictedMaster) pays(c int32, tolerance float64) bool {
	return g.program.Value(c) > (1+tolerance)*g.p.m.bins[g.patterns[c].Bin].cost
}

// add adds the patterns that pay to the program.
func (g *restrictedMaster) add(patterns []*Pattern, tolerance float64, out []int32) []int32 {
	for _, f := range patterns {
		column := g.p.m.column(f)
		if g.program.Worth(&column) > (1+tolerance)*column.Cost {
			out = append(out, g.program.Add(column))
			g.patterns = append(g.patterns, f)
		}
	}
	return out
}

// passCost is how many items times bins of a pass take about as long as a pivot. 50 and
// 200 cost 0.2 % more and nothing in small clusters.
const passCost = 100

// pass fills all bins at the smoothed duals. It counts as some hundred moves when
// there are many bins and items, as a few when not.
func (g *restrictedMaster) pass(atLeast float64) []*Pattern {
	g.p.stats.Passes++
	g.moves -= 1 + len(g.p.m.bins)*len(g.p.m.items)/passCost
	return g.p.patterns(atLeast)
}

// share is a pattern and how much of it the program takes.
type share struct {
	*Pattern

	amount float64
}

// solution lists the patterns that the program takes, those with the largest
// fraction beyond a whole number first.
func (g *restrictedMaster) solution() []share {
	var out []share
	g.program.Basic(func(c int32, amount float64) {
		if amount > 0 {
			out = append(out, share{g.patterns[c], amount})
		}
	})
	slices.SortStableFunc(out, func(a, b share) int {
		return cmp.Compare(b.amount-math.Floor(b.amount), a.amount-math.Floor(a.amount))
	})
	return out
}

// known adds a pattern to those met before.
func (g *restrictedMaster) known(f *Pattern) {
	g.program.Add(g.p.m.column(f))
	g.patterns = append(g.patterns, f)
}
