package packing_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"spokeshave.dev/controller/core/solver/packing"
)

// Instances of one-dimensional bin packing by the recipes of the literature, made anew
// with seeds, so that every optimum is known by construction or certified by a lower
// bound.

// classic is a problem of bins of one size.
func classic(capacity int64, sizes []int64) *packing.Instance {
	w := newInstance(3)
	w.bin(1, capacity, 0, math.MaxInt32)
	slices.Sort(sizes)
	for _, size := range slices.Backward(sizes) {
		if n := len(w.Items); n > 0 && w.Items[n-1].Size[0] == size {
			w.Items[n-1].Count++
		} else {
			w.item(1, size, 0, 1)
		}
	}
	return w.scaled()
}

// triplets are Falkenauer's (A hybrid grouping genetic algorithm for bin packing, Journal
// of Heuristics 2, 1996): n/3 bins of 1,000 are each filled by three items, one of 380 to
// 490 and two above 250 that make up the rest. All of the sum is used, so that n/3 is the
// optimum.
func triplets(r *rand.Rand, n int) []int64 {
	var out []int64
	for range n / 3 {
		large := 380 + r.Int64N(111)
		rest := 1000 - large
		middle := 250 + r.Int64N(rest/2-250+1)
		out = append(out, large, middle, rest-middle)
	}
	return out
}

// uniform are n sizes between least and 100, as in Falkenauer's class u (20 to 100 in
// bins of 150) and in Scholl, Klein and Juergens (BISON, 1997; set 1: 1, 20 or 30 to 100
// in bins of 100 to 150).
func uniform(r *rand.Rand, n int, least int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = least + r.Int64N(100-least+1)
	}
	return out
}

// martelloToth is the lower bound L2 (Martello and Toth, Lower bounds and reduction
// procedures for the bin packing problem, 1990): for every threshold k, items above
// capacity-k need bins of their own, those above half the capacity too, and the others of
// k at least fill what the second leave and then more bins.
func martelloToth(capacity int64, sizes []int64) int {
	best := 0
	for _, k := range append([]int64{0}, sizes...) {
		if 2*k > capacity {
			continue
		}
		alone, halves, room, rest := 0, 0, int64(0), int64(0)
		for _, s := range sizes {
			switch {
			case s > capacity-k:
				alone++
			case 2*s > capacity:
				halves++
				room += capacity - s
			case s >= k:
				rest += s
			}
		}
		more := 0
		if rest > room {
			more = int((rest - room + capacity - 1) / capacity)
		}
		best = max(best, alone+halves+more)
	}
	return best
}

// decreasing is how many bins first fit decreasing needs.
func decreasing(capacity int64, sizes []int64) int {
	sizes = slices.Sorted(slices.Values(sizes))
	var room []int64
	for _, size := range slices.Backward(sizes) {
		at := slices.IndexFunc(room, func(r int64) bool { return r >= size })
		if at < 0 {
			at, room = len(room), append(room, capacity)
		}
		room[at] -= size
	}
	return len(room)
}

// hardForDecreasing is the family on which first fit decreasing needs 11/9 of the optimum
// (Johnson, Near-optimal bin packing algorithms, 1973): 30m bins of 1, of which 6m hold
// 1/2+e, 1/4+e and 1/4-2e, and 3m hold two of 1/4+2e and two of 1/4-2e each; here with
// e = 1/1000, in bins of 1,000, in 9m bins in all.
func hardForDecreasing(m int) []int64 {
	var out []int64
	for range 6 * m {
		out = append(out, 501, 251, 248)
	}
	for range 3 * m {
		out = append(out, 252, 252, 248, 248)
	}
	return out
}

// TestKnownOptima holds how many bins more than the optimum, or than the lower bound L2,
// are used to what was measured. The triplets are made to be hard: each bin has to be
// filled to the last unit by three of sixty sizes, which a pricing that rounds a relaxation
// seldom hits. They say what exact pricing would be worth there (15 % of sixty sizes); bins
// that hold many items, which is what this packing is made for, lose next to nothing. No
// packing of few items is worse than first fit decreasing.
func TestKnownOptima(t *testing.T) {
	cases := map[string]struct {
		source   string
		capacity int64
		sizes    func(r *rand.Rand) []int64
		// optimum is known by construction, nil for L2.
		optimum func(n int) int
		// most is how many bins more than that any instance may need, mean how many
		// twenty may need on average.
		most int
		mean float64
	}{
		"Falkenauer t60":  {"triplets", 1000, func(r *rand.Rand) []int64 { return triplets(r, 60) }, func(n int) int { return n / 3 }, 4, 3.5},
		"Falkenauer t120": {"triplets", 1000, func(r *rand.Rand) []int64 { return triplets(r, 120) }, func(n int) int { return n / 3 }, 6, 6},
		"Falkenauer t249": {"triplets", 1000, func(r *rand.Rand) []int64 { return triplets(r, 249) }, func(n int) int { return n / 3 }, 10, 8.5},
		"Falkenauer u120": {"uniform", 150, func(r *rand.Rand) []int64 { return uniform(r, 120, 20) }, nil, 2, 1.3},
		"Falkenauer u500": {"uniform", 150, func(r *rand.Rand) []int64 { return uniform(r, 500, 20) }, nil, 4, 3},
		"Scholl N2C1W1":   {"uniform", 100, func(r *rand.Rand) []int64 { return uniform(r, 100, 1) }, nil, 2, 0.5},
		"Scholl N3C2W2":   {"uniform", 120, func(r *rand.Rand) []int64 { return uniform(r, 200, 20) }, nil, 2, 0.8},
		"Scholl N4C3W4":   {"uniform", 150, func(r *rand.Rand) []int64 { return uniform(r, 500, 30) }, nil, 7, 5.5},
		"t60 fifty times": {"triplets", 1000, func(r *rand.Rand) []int64 { return slices.Repeat(triplets(r, 60), 50) }, func(n int) int { return n / 3 }, 170, 160},
		"Johnson 11/9":    {"first fit decreasing needs two ninths more", 1000, func(*rand.Rand) []int64 { return hardForDecreasing(10) }, func(int) int { return 90 }, 5, 5},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			sum, worst := 0, 0
			const instances = 20
			for seed := range uint64(instances) {
				sizes := tc.sizes(rand.New(rand.NewPCG(seed, 12)))
				want := martelloToth(tc.capacity, sizes)
				if tc.optimum != nil {
					want = tc.optimum(len(sizes))
				}
				in := classic(tc.capacity, sizes)
				result := packing.Pack(in, packing.Options{Effort: effort})
				hold(t, in, result)
				if n := decreasing(tc.capacity, sizes); len(sizes) <= packing.MaxFirstFit && int(bins(result)) > n {
					t.Fatalf("seed %d: %d bins, first fit decreasing needs %d", seed, bins(result), n)
				}
				over := int(bins(result)) - want
				if over < 0 {
					t.Fatalf("seed %d: %d bins, fewer than the bound of %d", seed, bins(result), want)
				}
				sum, worst = sum+over, max(worst, over)
			}
			mean := float64(sum) / instances
			if worst > tc.most || mean > tc.mean {
				t.Errorf("%s: %.2f bins above the optimum or its bound on average, %d at worst", tc.source, mean, worst)
			}
		})
	}
}

// BenchmarkPack packs classic instances, and large ones in three dimensions.
func BenchmarkPack(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 13))
	for name, in := range map[string]*packing.Instance{
		"triplets=249": classic(1000, triplets(r, 249)),
		"uniform=1000": classic(150, uniform(r, 1000, 20)),
		"items=50":     many(r, 50, 40),
		"items=200":    many(r, 200, 40),
		"items=400":    many(r, 400, 40),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var s packing.Stats
			for b.Loop() {
				s = packing.Pack(in, packing.Options{Effort: effort}).Stats
			}
			b.ReportMetric(float64(s.Pivots), "pivots")
			b.ReportMetric(float64(s.Passes), "passes")
		})
	}
}

// many are so many items, of 50 to 150 each, and bin types whose costs follow their size.
func many(r *rand.Rand, items, types int) *packing.Instance {
	w := newInstance(3)
	for k := range types {
		scale := int64(1 + k/4)
		w.bin(float64(scale)*(1+0.02*float64(k%4)), 4000*scale, (8000+4000*int64(k%4))*scale, 60)
	}
	for range items {
		w.item(50+r.Int32N(100), 50*(1+r.Int64N(40)), 64*(1+r.Int64N(64)), 1)
	}
	return w.scaled()
}

func ExamplePack() {
	w := newInstance(3)
	w.bin(1, 10, 0, 100)
	w.bin(1.8, 20, 0, 100)
	w.item(4, 6, 0, 1)
	w.item(4, 4, 0, 1)
	r := packing.Pack(w.scaled(), packing.Options{Effort: 1000})
	fmt.Printf("%.1f for %d bins\n", cost(r), bins(r))
	// Output: 3.6 for 2 bins
}
