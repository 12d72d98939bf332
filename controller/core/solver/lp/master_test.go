package lp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// covering is a covering program: rows that demand, and columns.
type covering struct {
	demand  []int32
	columns []Column
}

// coverings are random covering programs of n rows, and some that are numerically
// hard. The first n columns cover a row each.
var coverings = map[string]func(r *rand.Rand, n int) covering{
	"random": func(r *rand.Rand, n int) covering {
		return cover(r, n, 4*n, func(*rand.Rand) int32 { return 1 + r.Int32N(50) }, func(r *rand.Rand) float64 { return 0.1 + r.Float64() })
	},
	"degenerate": func(r *rand.Rand, n int) covering { // all demands and costs are equal
		return cover(r, n, 4*n, func(*rand.Rand) int32 { return 12 }, func(*rand.Rand) float64 { return 1 })
	},
	"badly scaled": func(r *rand.Rand, n int) covering { // demands from 1 to 1e6, costs from 1e-4 to 1e3
		return cover(r, n, 4*n,
			func(r *rand.Rand) int32 { return int32(math.Pow(10, 6*r.Float64())) },
			func(r *rand.Rand) float64 { return math.Pow(10, 7*r.Float64()-4) })
	},
	"near-parallel": func(r *rand.Rand, n int) covering { // columns of a row more, or of one unit more
		c := cover(r, n, 2*n, func(*rand.Rand) int32 { return 1 + r.Int32N(50) }, func(r *rand.Rand) float64 { return 0.1 + r.Float64() })
		for _, f := range c.columns[n:] {
			like := Column{Rows: append([]int32(nil), f.Rows...), Counts: append([]int32(nil), f.Counts...), Cost: f.Cost * (1 + 1e-9)}
			like.Counts[r.IntN(len(like.Counts))] += 100
			c.columns = append(c.columns, like)
		}
		return c
	},
}

// cover is a covering program of n rows and so many more columns.
func cover(r *rand.Rand, n, more int, demand func(*rand.Rand) int32, cost func(*rand.Rand) float64) covering {
	var c covering
	for i := range n {
		c.demand = append(c.demand, demand(r))
		c.columns = append(c.columns, Column{Rows: []int32{int32(i)}, Counts: []int32{1 + r.Int32N(3)}, Cost: cost(r)})
	}
	for range more {
		var f Column
		for _, i := range r.Perm(n)[:1+r.IntN(min(n, 6))] {
			f.Rows, f.Counts = append(f.Rows, int32(i)), append(f.Counts, 1+r.Int32N(8))
		}
		f.Cost = cost(r)
		c.columns = append(c.columns, f)
	}
	return c
}

// master is the program with some of its columns, and the others to come.
func (c *covering) master() (g *Master, others []Column) {
	n := len(c.demand)
	return NewMaster(c.demand, c.columns[:n]), c.columns[n:]
}

// solve adds the columns a few at a time and reoptimizes, as column generation does.
func solve(g *Master, others []Column, between func()) {
	all := make([]int32, len(g.columns))
	for i := range all {
		all[i] = int32(i)
	}
	for len(others) > 0 {
		n := min(5, len(others))
		for _, f := range others[:n] {
			all = append(all, g.Add(f))
		}
		others = others[n:]
		g.Reoptimize(all, 1e-9, 10_000)
		if between != nil {
			between()
		}
	}
	for g.Reoptimize(all, 1e-9, 10_000); g.Mend(); {
		g.Reoptimize(all, 1e-9, 10_000)
	}
}

// cost is what the basic solution costs.
func (g *Master) cost() float64 {
	sum := 0.0
	g.Basic(func(c int32, amount float64) { sum += amount * g.columns[c].Cost })
	return sum
}

// dualCost is what the duals make of the demand; feasible says whether no column is
// worth more than its cost.
func (g *Master) dualCost() (sum float64, feasible bool) {
	for i, w := range g.Dual {
		sum += w * g.demand[i]
		if w < -1e-6 {
			return 0, false
		}
	}
	for c := range g.columns {
		if g.rate(int32(c)) > 1e-6 {
			return 0, false
		}
	}
	return sum, true
}

// optimal fails the test unless primal and dual solutions are feasible and cost the
// same, which proves both optimal.
func optimal(t *testing.T, name string, seed uint64, g *Master) {
	t.Helper()
	dual, feasible := g.dualCost()
	if primal := g.cost(); !feasible || math.Abs(primal-dual) > 1e-5*dual || g.residual() > 1e-6 {
		t.Fatalf("%s, seed %d: cost %v, by the duals %v (feasible %v), residual %v", name, seed, primal, dual, feasible, g.residual())
	}
}

// TestMaster: the solutions of both programs, the primal and the dual, are feasible
// and cost the same. That is a proof of optimality, which needs no other solver.
func TestMaster(t *testing.T) {
	for name, program := range coverings {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(300) {
				r := rand.New(rand.NewPCG(seed, 3))
				c := program(r, 1+r.IntN(40))
				g, others := c.master()
				solve(g, others, nil)
				optimal(t, name, seed, g)
			}
		})
	}
}

// TestMasterMends: rounding errors in the inverse, here large ones put in on purpose
// while columns still come, do not last.
func TestMasterMends(t *testing.T) {
	for name, program := range coverings {
		t.Run(name, func(t *testing.T) {
			mended := 0
			for seed := range uint64(100) {
				r := rand.New(rand.NewPCG(seed, 4))
				c := program(r, 2+r.IntN(30))
				g, others := c.master()
				solve(g, others, func() {
					for k := range g.inv.a {
						g.inv.a[k] *= 1 + 1e-4*(r.Float64()-0.5)
					}
					for j := range g.amount {
						g.amount[j] *= 1 + 1e-4*(r.Float64()-0.5)
					}
				})
				// What was put in last is found by asking once more.
				g.factor.updates++
				g.Mend()
				solve(g, nil, nil)
				optimal(t, name, seed, g)
				mended += g.factor.computed
			}
			if mended < 100 {
				t.Errorf("the inverse was computed anew %d times in 100 programs", mended)
			}
		})
	}
}

// TestSingularBasis: a basis without an inverse is left alone.
func TestSingularBasis(t *testing.T) {
	g := NewMaster([]int32{1, 1}, []Column{
		{Rows: []int32{0}, Counts: []int32{1}, Cost: 1}, {Rows: []int32{1}, Counts: []int32{1}, Cost: 1},
	})
	before := slices.Clone(g.inv.a)
	g.basis[1] = 0 // twice the same column
	if g.invert() {
		t.Error("an inverse was found of a singular basis")
	}
	for i := range before {
		if g.inv.a[i] != before[i] {
			t.Errorf("the inverse has changed: %v, was %v", g.inv.a, before)
		}
	}
}

func BenchmarkMaster(b *testing.B) {
	for _, n := range []int{50, 200, 400} {
		b.Run(fmt.Sprintf("rows=%d", n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(5, 5))
			c := coverings["random"](r, n)
			pivots := 0
			for b.Loop() {
				g, others := c.master()
				solve(g, others, nil)
				pivots += g.factor.updates
			}
			b.ReportMetric(float64(pivots)/float64(b.N), "pivots")
		})
	}
}
