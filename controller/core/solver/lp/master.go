package lp

import "math"

// Column is a column of a Master: a unit of it covers each of Rows by the count
// at the same position, and costs Cost, which is more than 0.
type Column struct {
	Rows, Counts []int32
	Cost         float64
}

// Master is the program min cost.x, A.x >= demand, x >= 0 with one row per item
// and a growing list of columns, numbered as they are added. A primal simplex:
// it starts from one column per row, and the basis stays feasible.
type Master struct {
	// Dual is the dual value of each row: what one more unit of its demand would
	// cost. Between calls of Reoptimize the owner may read it.
	Dual []float64

	columns []Column
	demand  []float64
	// basis names the variable at each position: a column's number, or -1-r for the
	// surplus of row r. amount is its value.
	basis  []int32
	amount []float64
	inv    *inverse
	factor factor
}

// NewMaster is a program that demands so much of each row. The i-th column of
// start covers row i alone, and they are the first basis.
func NewMaster(demand []int32, start []Column) *Master {
	m := len(demand)
	g := &Master{
		Dual: make([]float64, m), columns: append([]Column(nil), start...), demand: make([]float64, m),
		basis: make([]int32, m), amount: make([]float64, m), inv: newInverse(m),
	}
	for i := range m {
		g.demand[i] = float64(demand[i]) * (1 + uneven(i))
		g.amount[i] = float64(demand[i]) / float64(start[i].Counts[0]) * (1 + uneven(i))
	}
	g.first()
	return g
}

// first makes the first basis.
func (g *Master) first() {
	clear(g.inv.a)
	for i := range g.basis {
		n := float64(g.columns[i].Counts[0])
		g.basis[i] = int32(i)
		g.inv.row(i)[i] = 1 / n
		g.Dual[i] = g.columns[i].Cost / n
	}
}

// uneven is by how much, at most 1e-5, the demand of a row is taken to be more
// than it is. Equal demands make bases degenerate, and pivots stand still; the
// excess is too small to make any difference to a solution that is rounded to
// whole columns.
func uneven(row int) float64 { return float64(1e-5 * float64((row*7919)%101) / 101) }

// Add adds a column and returns its number.
func (g *Master) Add(c Column) int32 {
	g.columns = append(g.columns, c)
	return int32(len(g.columns) - 1)
}

// Value is what the rows of the column with a number are worth at the present duals.
// One that is worth more than its cost makes the program cheaper.
func (g *Master) Value(column int32) float64 { return g.Worth(&g.columns[column]) }

// Worth is Value for a column that need not have been added.
func (g *Master) Worth(f *Column) float64 {
	v, dual, counts := 0.0, g.Dual, f.Counts[:len(f.Rows)]
	for q, i := range f.Rows {
		v += float64(dual[i] * float64(counts[q]))
	}
	return v
}

// rate is by which part a column is worth more than its cost.
func (g *Master) rate(c int32) float64 { return g.Value(c)/g.columns[c].Cost - 1 }

// Basic calls do for every column in the basis, in its order, with how much is
// taken of it.
func (g *Master) Basic(do func(column int32, amount float64)) {
	for j, c := range g.basis {
		if c >= 0 {
			do(c, g.amount[j])
		}
	}
}

// Reoptimize pivots on the given columns until none is worth more than 1+least
// times its cost, or limit pivots are made, and returns the number of pivots. The
// column worth most for its cost enters (Dantzig's rule, scaled by cost). Nearly
// all moves of a solve are made here.
func (g *Master) Reoptimize(columns []int32, least float64, limit int) (pivots int) {
	for pivots < limit {
		entering, gain, ok := g.entering(columns, least)
		switch {
		case ok && g.pivot(entering, gain):
			pivots++
			g.age()
		case !g.mended():
			return pivots
		}
	}
	return pivots
}

// entering is the variable to bring into the basis, and its reduced cost; false when
// there is none.
func (g *Master) entering(columns []int32, least float64) (variable int32, gain float64, ok bool) {
	if row, below := g.surplus(); row >= 0 {
		return -1 - row, below, true
	}
	best, most := int32(-1), least
	for _, c := range columns {
		if v := g.rate(c); v > most {
			most, best = v, c
		}
	}
	if best < 0 {
		return 0, 0, false
	}
	return best, g.columns[best].Cost - g.Value(best), true
}

// negative is below what a dual value is no rounding error any more. A hundredth of the
// value changes no cost, a hundred times changes that of 100 diverse pods alone.
const negative = -1e-9

// surplus is the row of least dual value below 0, of which more should be
// covered than is demanded; -1 for none.
func (g *Master) surplus() (row int32, below float64) {
	row, below = -1, negative
	for i, w := range g.Dual {
		if w < below {
			row, below = int32(i), w
		}
	}
	return row, below
}

// pivot brings a variable into the basis. gain is its reduced cost. It reports
// false when nothing can leave.
func (g *Master) pivot(entering int32, gain float64) bool {
	g.express(entering)
	leave, step := g.ratio()
	if leave < 0 {
		return false
	}
	g.replace(leave, max(step, 0), gain)
	g.basis[leave] = entering
	return true
}

// express writes a variable's column in terms of the basis.
func (g *Master) express(variable int32) {
	if variable < 0 {
		g.inv.expressSurplus(int(-1 - variable))
	} else {
		g.inv.express(&g.columns[variable])
	}
}

const (
	// leastPivot is the coefficient from which on a basic variable may leave. A hundredth
	// and a hundred times change no plan.
	leastPivot = 1e-9
	// tied is how near two steps are to count as equal: the larger pivot wins. A
	// hundredth and a hundred times change the cost of 100 diverse pods alone.
	tied = 1e-12
)

// ratio is the position at which a basic variable reaches 0 first, -1 for none,
// and how much of the entering variable that takes.
func (g *Master) ratio() (leave int, step float64) {
	leave, step = -1, math.Inf(1)
	largest := 0.0 // the pivot at leave
	for _, j := range g.inv.support {
		if v := g.inv.u[j]; v > leastPivot {
			t := g.amount[j] / v
			if t < step-tied || t < step+tied && v > largest {
				step, leave, largest = t, int(j), v
			}
		}
	}
	return leave, step
}

// replace updates inverse, amounts and duals for a new variable at position
// leave of the basis.
func (g *Master) replace(leave int, step, gain float64) {
	g.inv.enter(leave)
	for q, i := range g.inv.index {
		g.Dual[i] += float64(gain * g.inv.coef[q])
	}
	for _, j := range g.inv.support {
		g.amount[j] -= float64(step * g.inv.u[j])
	}
	g.amount[leave] = step
}
