package packing_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"spokeshave.dev/controller/core/solver/packing"
)

// manyKinds has n kinds of items, some of which want a bin of their own, and 39 bin types of
// three shapes. Larger bins cost the same for what they hold.
func manyKinds(seed uint64, n int) *packing.Instance {
	r := rand.New(rand.NewPCG(seed, 0))
	w := newInstance(3)
	type bin struct {
		cost        float64
		cpu, memory int64
	}
	var bins []bin
	for cpu := int64(1); cpu <= 96; cpu += max(1, cpu/2) {
		for shape, perCPU := range []int64{2, 4, 8} {
			bins = append(bins, bin{float64(cpu) * []float64{0.0425, 0.048, 0.063}[shape], cpu * 1000, cpu * perCPU * 1024})
		}
	}
	slices.SortStableFunc(bins, func(a, b bin) int { return cmp.Compare(a.cost, b.cost) })
	for _, b := range bins {
		w.bin(b.cost, b.cpu-80, b.memory*9/10, 110)
	}
	for range n {
		it := w.item(1+int32(r.IntN(6)), int64(50+r.IntN(3000)), int64(64+r.IntN(9000)), 1)
		if r.IntN(4) == 0 {
			it.Group = w.group(1)
		}
	}
	return w.scaled()
}

// TestManyKinds: all items packed together cost no more than their quarters packed one by one.
// Together they are so many that the effort ends before one program has priced them.
func TestManyKinds(t *testing.T) {
	if testing.Short() {
		t.Skip("packs much, which is slow under the race detector; other tests run the same concurrent code")
	}
	for seed := range uint64(3) {
		in := manyKinds(seed, 400)
		whole := packing.Pack(in, packing.Options{Effort: effort})
		hold(t, in, whole)
		apart := 0.0
		for i := range 4 {
			part := *in
			part.Items = nil
			for j := i; j < len(in.Items); j += 4 {
				part.Items = append(part.Items, in.Items[j])
			}
			apart += cost(packing.Pack(&part, packing.Options{Effort: effort}))
		}
		t.Logf("seed %d: %.3f, in quarters %.3f, moves %d", seed, cost(whole), apart, whole.Stats.Passes+whole.Stats.Pivots)
		if cost(whole) > apart {
			t.Errorf("seed %d: %.2f, and its quarters are packed for %.2f", seed, cost(whole), apart)
		}
	}
}
