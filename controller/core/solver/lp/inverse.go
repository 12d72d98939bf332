package lp

// inverse is the inverse of a square basis, dense and by rows, which follows the basis
// from pivot to pivot.
type inverse struct {
	m int
	a []float64
	// u is the entering column in terms of the basis, as express left it.
	u []float64
	// support lists the positions at which u is not negligible.
	support []int32
	// index and coef list what is not 0 in the last pivot row.
	index []int32
	coef  []float64
}

// newInverse is the inverse of no basis: all 0.
func newInverse(m int) *inverse {
	return &inverse{
		m: m, a: make([]float64, m*m), u: make([]float64, m), support: make([]int32, 0, m),
		index: make([]int32, 0, m), coef: make([]float64, 0, m),
	}
}

// identity is the inverse of the basis of unit columns.
func identity(m int) *inverse {
	x := newInverse(m)
	for i := range m {
		x.row(i)[i] = 1
	}
	return x
}

func (x *inverse) row(i int) []float64 { return x.a[i*x.m : i*x.m+x.m] }

// express writes a column in terms of the basis.
func (x *inverse) express(f *Column) {
	counts := f.Counts[:len(f.Rows)]
	for j := range x.u {
		row := x.row(j)
		v := 0.0
		for q, i := range f.Rows {
			v += float64(row[i] * float64(counts[q]))
		}
		x.u[j] = v
	}
	x.support = nonzero(x.support[:0], x.u)
}

// expressSurplus writes the surplus of a row, which takes 1 of it, in terms of the basis.
func (x *inverse) expressSurplus(row int) {
	for j := range x.u {
		x.u[j] = -x.a[j*x.m+row]
	}
	x.support = nonzero(x.support[:0], x.u)
}

// nonzero appends the positions of the coefficients that are not negligible.
func nonzero(out []int32, u []float64) []int32 {
	for j, v := range u {
		if v >= negligible || v <= -negligible {
			out = append(out, int32(j))
		}
	}
	return out
}

// negligible is below what a coefficient is taken for 0, which keeps the inverse
// sparse. A hundredth and a hundred times the value change costs by 0.1 %, in either
// direction (docs/measurements/solver.md).
const negligible = 1e-13

// enter updates the inverse for the variable last expressed, which comes to a
// position.
func (x *inverse) enter(at int) {
	pivot := x.row(at)
	x.normalize(pivot, 1/x.u[at])
	for _, j := range x.support {
		if int(j) != at {
			x.subtract(x.row(int(j)), pivot, x.u[j])
		}
	}
}

// normalize scales a pivot row, and lists what is not 0 in it.
func (x *inverse) normalize(pivot []float64, scale float64) {
	x.index, x.coef = x.index[:0], x.coef[:0]
	for i, w := range pivot {
		w *= scale
		if w < negligible && w > -negligible {
			pivot[i] = 0
			continue
		}
		pivot[i] = w
		x.index = append(x.index, int32(i))
		x.coef = append(x.coef, w)
	}
}

// subtract takes v times the pivot row, as normalize left it, off a row.
func (x *inverse) subtract(row, pivot []float64, v float64) {
	if len(x.index)*2 > len(pivot) {
		subtractDense(row, pivot, v)
		return
	}
	coef := x.coef[:len(x.index)]
	for q, i := range x.index {
		row[i] -= float64(v * coef[q])
	}
}

// subtractDense takes v times the pivot row off a row, four numbers a turn: the
// compiler does not unroll loops, and a quarter of a solve is spent in this one.
func subtractDense(row, pivot []float64, v float64) {
	for len(row) >= 4 && len(pivot) >= 4 {
		r, w := (*[4]float64)(row), (*[4]float64)(pivot)
		r[0] -= float64(v * w[0])
		r[1] -= float64(v * w[1])
		r[2] -= float64(v * w[2])
		r[3] -= float64(v * w[3])
		row, pivot = row[4:], pivot[4:]
	}
	for i, w := range pivot[:len(row)] {
		row[i] -= float64(v * w)
	}
}
