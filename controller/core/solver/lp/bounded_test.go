package lp_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"spokeshave.dev/controller/core/solver/lp"
	"spokeshave.dev/controller/core/solver/vec"
)

// bounded is a bounded program in the form that Bounded and the textbook share.
type bounded struct {
	lp.Columns

	n        int
	capacity vec.Reals
}

// all are the numbers of the columns.
func (p *bounded) all() []int32 {
	out := make([]int32, len(p.Objective))
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// textbook is the optimum by the dense simplex of this test: the upper bounds
// are rows of their own.
func (p *bounded) textbook() float64 {
	var a [][]float64
	var b []float64
	for r := range p.n {
		row := make([]float64, len(p.Objective))
		for j := range row {
			row[j] = p.Use[j][r]
		}
		a, b = append(a, row), append(b, p.capacity[r])
	}
	for j, upper := range p.Upper {
		row := make([]float64, len(p.Objective))
		row[j] = 1
		a, b = append(a, row), append(b, upper)
	}
	return maximize(p.Objective, a, b)
}

// solution is the value of the columns that a Solution takes, and by how much it
// breaks a bound or a capacity, in proportion.
func (p *bounded) solution(s *lp.Solution) (value, broken float64) {
	x := make([]float64, len(p.Objective))
	for _, j := range s.Full {
		x[j] = p.Upper[j]
	}
	for r := range p.n {
		if j := s.Column[r]; j >= 0 {
			x[j] = s.Amount[r]
		}
	}
	var used vec.Reals
	for j, v := range x {
		value += v * p.Objective[j]
		broken = max(broken, -v/max(1, p.Upper[j]), (v-p.Upper[j])/max(1, p.Upper[j]))
		for r := range p.n {
			used[r] += v * p.Use[j][r]
		}
	}
	for r := range p.n {
		broken = max(broken, (used[r]-p.capacity[r])/max(1, p.capacity[r]))
	}
	return value, broken
}

// programs are random bounded programs, and some that are numerically hard.
var programs = map[string]func(r *rand.Rand) bounded{
	"random": func(r *rand.Rand) bounded { return draw(r, 2+r.IntN(4), 1+r.IntN(12), real) },
	"degenerate": func(r *rand.Rand) bounded { // every use, worth and bound is 0, 1 or 2
		return draw(r, 2+r.IntN(4), 1+r.IntN(12), func(r *rand.Rand) float64 { return float64(r.IntN(3)) })
	},
	"badly scaled": func(r *rand.Rand) bounded { // rows nine orders of magnitude apart
		p := draw(r, 3+r.IntN(3), 1+r.IntN(12), real)
		for row := range p.n {
			scale := math.Pow(10, float64(row*9/p.n)-4)
			p.capacity[row] *= scale
			for j := range p.Use {
				p.Use[j][row] *= scale
			}
		}
		return p
	},
	"near-parallel": func(r *rand.Rand) bounded { // columns that differ by a millionth
		p := draw(r, 2+r.IntN(4), 2+r.IntN(11), real)
		for j := 1; j < len(p.Use); j++ {
			p.Objective[j] = p.Objective[0] * (1 + 1e-7*r.Float64())
			for row := range p.n {
				p.Use[j][row] = p.Use[0][row] * (1 + 1e-6*r.Float64())
			}
		}
		return p
	},
}

func real(r *rand.Rand) float64 { return 100 * r.Float64() }

// draw is a program of n rows and m columns. Row 0 is used by all columns, so
// that none is for nothing.
func draw(r *rand.Rand, n, m int, number func(*rand.Rand) float64) bounded {
	p := bounded{n: n}
	for row := range n {
		p.capacity[row] = 1 + 3*number(r)
	}
	for range m {
		var use vec.Reals
		for row := range n {
			if row == 0 || r.IntN(3) > 0 {
				use[row] = number(r)
			}
		}
		use[0]++
		p.Use = append(p.Use, use)
		p.Objective = append(p.Objective, 0.5+number(r))
		p.Upper = append(p.Upper, float64(r.IntN(5)))
	}
	return p
}

// TestBounded holds optima to the textbook's, from the basis of slacks and from
// one that was best for other objectives. The value must bound the optimum always,
// and be it unless columns tie exactly: then one solve in a hundred may end beside.
func TestBounded(t *testing.T) {
	for name, program := range programs {
		t.Run(name, func(t *testing.T) {
			solved, missed := 0, 0
			for seed := range uint64(2000) {
				r := rand.New(rand.NewPCG(seed, 0))
				p := program(r)
				x := lp.Bounded{Columns: p.Columns}
				var basis lp.Basis
				for range 3 {
					s := x.Solve(p.all(), &p.capacity, p.n, &basis)
					want := p.textbook()
					value, broken := p.solution(s)
					if s.Value < want && !near(s.Value, want) {
						t.Fatalf("seed %d: the bound %v is below the optimum %v\n%+v", seed, s.Value, want, p)
					}
					if solved++; !near(s.Value, want) || !near(value, want) || broken > 1e-6 {
						if missed++; name != "degenerate" {
							t.Fatalf("seed %d: bound %v, value %v, broken by %v; the textbook has %v\n%+v", seed, s.Value, value, broken, want, p)
						}
					}
					for j := range p.Objective {
						p.Objective[j] *= 0.5 + r.Float64()
					}
				}
			}
			if missed*100 > solved {
				t.Errorf("%d of %d programs were not solved", missed, solved)
			}
		})
	}
}

// TestBoundedSubset: columns outside the subset do not take part.
func TestBoundedSubset(t *testing.T) {
	p := bounded{n: 3, capacity: vec.Reals{10, 10, 10}, Columns: lp.Columns{
		Objective: []float64{5, 1}, Use: []vec.Reals{{1, 1, 1}, {2, 1, 1}}, Upper: []float64{100, 100},
	}}
	x, basis := lp.Bounded{Columns: p.Columns}, lp.Basis{}
	if s := x.Solve([]int32{1}, &p.capacity, 3, &basis); !near(s.Value, 5) {
		t.Errorf("five of column 1 fit, the value is %v", s.Value)
	}
}

// TestBound: any prices bound the optimum from above.
func TestBound(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := programs["random"](r)
		var price vec.Reals
		for row := range p.n {
			price[row] = 3 * r.Float64()
		}
		if got, want := p.Bound(p.all(), &p.capacity, p.n, &price), p.textbook(); got < want*(1-1e-9) {
			t.Fatalf("seed %d: %v bounds %v", seed, got, want)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(a), math.Abs(b)) }

func BenchmarkBounded(b *testing.B) {
	for _, m := range []int{10, 100, 400} {
		b.Run(fmt.Sprintf("columns=%d", m), func(b *testing.B) {
			p := draw(rand.New(rand.NewPCG(1, 2)), 5, m, real)
			x, all := lp.Bounded{Columns: p.Columns}, p.all()
			var basis lp.Basis
			for i := 0; b.Loop(); i++ {
				p.Objective[i%m] *= 1.1 // as duals move
				x.Solve(all, &p.capacity, p.n, &basis)
			}
		})
	}
}
