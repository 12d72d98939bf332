package packing_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/vec"
)

// exhaustive finds the cheapest packing of a few items by trying all: by sets of items,
// the cheapest cost is that of the bin with the first of them and any others, and of
// what remains. Items that no bin holds are left out.
type exhaustive struct {
	in    *packing.Instance
	items []int // one number for each of an item
}

func newExhaustive(in *packing.Instance) *exhaustive {
	e := &exhaustive{in: in}
	for i := range in.Items {
		for range in.Items[i].Count {
			if placeable(in, &in.Items[i]) {
				e.items = append(e.items, i)
			}
		}
	}
	return e
}

// bin is the cheapest bin that takes a set of items together; infinite for none.
func (e *exhaustive) bin(set uint) float64 {
	var size vec.Vector
	allowed := vec.NewBits(len(e.in.BinTypes))
	allowed.SetRange(0, int32(len(e.in.BinTypes)))
	groups := map[int32]int32{}
	for j, i := range e.items {
		if set>>j&1 == 1 {
			it := &e.in.Items[i]
			size.Add(&it.Size, 1)
			allowed.And(e.in.Sets[it.Set])
			if it.Group >= 0 {
				groups[it.Group]++
			}
		}
	}
	for a, n := range groups {
		if most := e.in.Conflicts.PerBin[a]; most > 0 && n > most {
			return math.Inf(1)
		}
		for b := range groups {
			if b < a && e.in.Conflicts.Excludes[a][b] {
				return math.Inf(1)
			}
		}
	}
	best := math.Inf(1)
	for b := allowed.Next(0); b >= 0; b = allowed.Next(b + 1) {
		if vec.Fits(&size, &e.in.Capacities[e.in.BinTypes[b].Capacity], vec.MaxDims) {
			best = min(best, e.in.BinTypes[b].Cost)
		}
	}
	return best
}

func (e *exhaustive) cost() float64 {
	all := uint(1)<<len(e.items) - 1
	bin, best := make([]float64, all+1), make([]float64, all+1)
	for set := uint(1); set <= all; set++ {
		bin[set], best[set] = e.bin(set), math.Inf(1)
		first := set & -set
		rest := set &^ first
		for others := rest; ; others = (others - 1) & rest {
			best[set] = min(best[set], bin[first|others]+best[rest&^others])
			if others == 0 {
				break
			}
		}
	}
	return best[all]
}

// TestExhaustive: packings of nine items or fewer cost no less than the cheapest there is,
// are it in most cases, and are seldom far from it. The bound is never above it.
func TestExhaustive(t *testing.T) {
	found, tried, worst, sum := 0, 0, 1.0, 0.0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 10))
		in := random(r, 1+r.IntN(9)).scaled()
		result := packing.Pack(in, packing.Options{Effort: effort})
		hold(t, in, result)
		got, want := cost(result), newExhaustive(in).cost()
		if got < want*(1-1e-9) {
			t.Fatalf("seed %d: %v is cheaper than the cheapest, %v", seed, got, want)
		}
		if bound := bound(in); bound > want*(1+1e-9) {
			t.Fatalf("seed %d: %v bounds %v", seed, bound, want)
		}
		if bound := wholeBound(in); bound > want*(1+1e-9) {
			t.Fatalf("seed %d: %v bounds %v with whole items", seed, bound, want)
		}
		if want == 0 {
			continue
		}
		if tried++; got < want*(1+1e-9) {
			found++
		}
		worst, sum = max(worst, got/want), sum+got/want
	}
	if found*100 < tried*93 || sum > 1.02*float64(tried) || worst > 1.5+1e-9 {
		t.Errorf("%d of %d are the cheapest, %.4f of it on average, %.3f at worst", found, tried, sum/float64(tried), worst)
	}
}

// bound is what the instance must cost at least.
func bound(in *packing.Instance) float64 {
	offered := make([]int32, len(in.Items))
	for i := range in.Items {
		offered[i] = in.Items[i].Count
	}
	sum := 0.0
	for i, w := range packing.BoundingDuals(in, offered) {
		sum += w * float64(in.Items[i].Count)
	}
	return sum
}

// wholeBound is bound with whole items; 0 where items exclude each other.
func wholeBound(in *packing.Instance) float64 {
	offered := make([]int32, len(in.Items))
	for i := range in.Items {
		if offered[i] = in.Items[i].Count; in.Items[i].Group >= 0 {
			return 0
		}
	}
	sum := 0.0
	for i, w := range packing.WholeBoundingDuals(in, offered, packing.BoundingDuals(in, offered)) {
		sum += w * float64(in.Items[i].Count)
	}
	return sum
}

// TestWholeBound: where items leave gaps, the bound with whole items is above the one with
// fractions, and never above the cheapest packing.
func TestWholeBound(t *testing.T) {
	if testing.Short() {
		t.Skip("packs much, which is slow under the race detector; other tests run the same concurrent code")
	}
	higher, tried, gap, wholeGap := 0, 0, 0.0, 0.0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 12))
		in := random(r, 1+r.IntN(9)).scaled()
		for i := range in.Items {
			in.Items[i].Group = packing.NoGroup
		}
		want := newExhaustive(in).cost()
		if want == 0 {
			continue
		}
		with, without := wholeBound(in), bound(in)
		if with > want*(1+1e-9) {
			t.Fatalf("seed %d: %v bounds %v", seed, with, want)
		}
		if tried++; with > without*(1+1e-6) {
			higher++
		}
		gap, wholeGap = gap+want/without, wholeGap+want/max(with, without)
	}
	t.Logf("of %d bounds %d are higher with whole items; the cheapest packing is %.3f of the bound on average, %.3f without them", tried, higher, wholeGap/float64(tried), gap/float64(tried))
	if higher*5 < tried || wholeGap >= gap {
		t.Errorf("%d of %d bounds are higher with whole items", higher, tried)
	}
}

// TestOrderIsIrrelevant: the same items in another order are packed at the same cost, and
// the same instance is packed the same way again.
func TestOrderIsIrrelevant(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 11))
		in := random(r, 2+r.IntN(40)).scaled()
		seen := map[packing.Item]bool{}
		in.Items = slices.DeleteFunc(in.Items, func(it packing.Item) bool { // equal ones are one item
			it.Group = packing.NoGroup
			before := seen[it]
			seen[it] = true
			return before
		})
		for i := range in.Items { // items that differ in conflicts alone keep their order
			in.Items[i].Group = packing.NoGroup
			in.Items[i].Count = 1 + r.Int32N(5)
		}
		want := packing.Pack(in, packing.Options{Effort: effort})
		hold(t, in, want)
		if again := packing.Pack(in, packing.Options{Effort: effort}); !same(want, again) {
			t.Fatalf("seed %d: packed again, it is another packing", seed)
		}
		other := *in
		other.Items = slices.Clone(in.Items)
		r.Shuffle(len(other.Items), func(i, j int) { other.Items[i], other.Items[j] = other.Items[j], other.Items[i] })
		got := packing.Pack(&other, packing.Options{Effort: effort})
		hold(t, &other, got)
		if math.Abs(cost(got)-cost(want)) > 1e-9 {
			t.Fatalf("seed %d: %v, in another order %v", seed, cost(want), cost(got))
		}
	}
}

// same says whether two packings are the same.
func same(a, b *packing.Result) bool {
	return slices.EqualFunc(a.Batches, b.Batches, func(x, y packing.Batch) bool {
		return x.Times == y.Times && x.Bin == y.Bin && slices.Equal(x.Items, y.Items) && slices.Equal(x.Counts, y.Counts)
	})
}
