package lp_test

import (
	"math/rand/v2"
	"testing"

	"spokeshave.dev/controller/core/solver/lp"
	"spokeshave.dev/controller/core/solver/vec"
)

// TestUnitPrices holds prices to the textbook's: no row is worth more than 1, and the
// demand is worth as much as it can be.
func TestUnitPrices(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 6))
		n := 2 + r.IntN(5)
		rows := make([]vec.Reals, 1+r.IntN(20))
		a, ones := make([][]float64, len(rows)), make([]float64, len(rows))
		for i := range rows {
			for k := range n {
				if k < 2 || r.IntN(3) > 0 {
					rows[i][k] = 0.01 + r.Float64()
				}
			}
			a[i], ones[i] = append([]float64(nil), rows[i][:n]...), 1
		}
		var demand vec.Reals
		for k := range n {
			demand[k] = 100 * r.Float64()
			for i := range rows { // what no row has is not asked for here
				if rows[i][k] > 0 {
					break
				} else if i == len(rows)-1 {
					demand[k] = 0
				}
			}
		}
		want := maximize(demand[:n], a, ones)
		price := lp.UnitPrices(append([]vec.Reals(nil), rows...), &demand, n)
		got := 0.0
		for k := range n {
			got += price[k] * demand[k]
		}
		for i := range rows {
			worth := 0.0
			for k := range n {
				worth += price[k] * rows[i][k]
			}
			if worth > 1+1e-9 {
				t.Fatalf("seed %d: row %d is worth %v", seed, i, worth)
			}
		}
		if !near(got, want) {
			t.Fatalf("seed %d: the demand is worth %v, the textbook has %v", seed, got, want)
		}
	}
}

// TestAbsentResource: what no row has costs nothing, and does not disturb the rest.
func TestAbsentResource(t *testing.T) {
	price := lp.UnitPrices([]vec.Reals{{2, 0, 0}}, &vec.Reals{10, 5, 0}, 3)
	if want := (vec.Reals{0.5}); price != want {
		t.Errorf("%v, want %v", price, want)
	}
}
