package packing_test

import (
	"math/rand/v2"
	"testing"

	"spokeshave.dev/controller/core/solver/packing"
)

// FuzzPack: whatever the instance and the effort, a packing is one, the bound is below
// its cost, and it is made the same way again.
func FuzzPack(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed*13), uint16(seed*seed*50), seed%5 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, items uint8, effort uint16, countFirst bool) {
		r := rand.New(rand.NewPCG(seed, 14))
		in := random(r, 1+int(items)).scaled()
		for i := range in.Items {
			in.Items[i].Count = 1 + r.Int32N(1+r.Int32N(60))
		}
		options := packing.Options{Effort: int(effort) % 8192, Count: countFirst} // few enough moves for the ten seconds that a fuzzer waits
		result := packing.Pack(in, options)
		hold(t, in, result)
		if again := packing.Pack(in, options); !same(result, again) {
			t.Error("packed again, it is another packing")
		}
		if bound := bound(in); bound > cost(result)*(1+1e-9) {
			t.Errorf("%v bounds a packing of %v", bound, cost(result))
		}
	})
}
