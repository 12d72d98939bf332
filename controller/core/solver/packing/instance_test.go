package packing_test

import (
	"math/rand/v2"
	"testing"

	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/vec"
)

// instanceBuilder makes instances: bin types that everyone may use, and items.
type instanceBuilder struct{ packing.Instance }

// newInstance is an instance with so many dimensions in use.
func newInstance(dims int) *instanceBuilder {
	return &instanceBuilder{packing.Instance{Dims: dims, Sets: []vec.Bits{{}}, ByCost: [][]int32{nil}}}
}

// bin adds a bin type, which items of set 0 may use. Bins have to be added in order of
// cost.
func (w *instanceBuilder) bin(cost float64, capacity ...int64) {
	var c vec.Vector
	copy(c[:], capacity)
	at := int32(len(w.BinTypes))
	w.Capacities = append(w.Capacities, c)
	w.BinTypes = append(w.BinTypes, packing.BinType{Capacity: at, Cost: cost})
	w.ByCost[0] = append(w.ByCost[0], at)
	for s := range w.Sets {
		for len(w.Sets[s]) <= int(at)/64 {
			w.Sets[s] = append(w.Sets[s], 0)
		}
	}
	w.Sets[0].Set(at)
}

// set is a set of bin types.
func (w *instanceBuilder) set(bins ...int32) int32 {
	set := vec.NewBits(len(w.BinTypes))
	for _, b := range bins {
		set.Set(b)
	}
	w.Sets = append(w.Sets, set)
	return int32(len(w.Sets) - 1)
}

// group is a conflict group of which a bin takes so many, 0 for any number, and which
// shares no bin with those named.
func (w *instanceBuilder) group(perBin int32, excludes ...int32) int32 {
	at := int32(len(w.Conflicts.PerBin))
	row := make([]bool, at+1)
	for _, o := range excludes {
		row[o] = true
	}
	row[at] = perBin == 1
	w.Conflicts.PerBin, w.Conflicts.Excludes = append(w.Conflicts.PerBin, perBin), append(w.Conflicts.Excludes, row)
	return at
}

// item adds items of set 0 without conflicts.
func (w *instanceBuilder) item(count int32, size ...int64) *packing.Item {
	it := packing.Item{Count: count, Group: packing.NoGroup}
	copy(it.Size[:], size)
	w.Items = append(w.Items, it)
	return &w.Items[len(w.Items)-1]
}

// scaled sets the scale of the instance by its items, as its callers do.
func (w *instanceBuilder) scaled() *packing.Instance {
	var sum vec.Vector
	n := int64(0)
	for i := range w.Items {
		sum.Add(&w.Items[i].Size, int64(w.Items[i].Count))
		n += int64(w.Items[i].Count)
	}
	for r, v := range sum {
		if v > 0 {
			w.Scale[r] = 1000 * float64(n) / float64(v)
		}
	}
	return &w.Instance
}

// effort is what the solver gives a packing by default.
const effort = 20_000

// cost is what a packing costs.
func cost(r *packing.Result) float64 {
	sum := 0.0
	for _, f := range r.Batches {
		sum += r.Cost(f.Bin) * float64(f.Times)
	}
	return sum
}

// bins counts them.
func bins(r *packing.Result) int32 {
	n := int32(0)
	for _, f := range r.Batches {
		n += f.Times
	}
	return n
}

// hold fails the test unless a packing is one: no bin above its capacity, of a type that
// an item may not use, or with items that exclude each other; every item in a bin or
// left, and left only where no bin type holds it.
func hold(tb testing.TB, in *packing.Instance, r *packing.Result) {
	tb.Helper()
	packed := make([]int32, len(in.Items))
	for _, f := range r.Batches {
		if f.Times < 1 || len(f.Items) == 0 || len(f.Items) != len(f.Counts) {
			tb.Fatalf("%d bins of items %v by %v", f.Times, f.Items, f.Counts)
		}
		kind := r.Type(f.Bin)
		var size vec.Vector
		there := map[int32]int32{}
		for q, i := range f.Items {
			it := &in.Items[i]
			if f.Counts[q] < 1 || !in.Sets[it.Set].Has(kind) {
				tb.Fatalf("%d of item %d in a bin of type %d", f.Counts[q], i, kind)
			}
			size.Add(&it.Size, int64(f.Counts[q]))
			packed[i] += f.Counts[q] * f.Times
			if it.Group >= 0 {
				there[it.Group] += f.Counts[q]
			}
		}
		if !vec.Fits(&size, &in.Capacities[in.BinTypes[kind].Capacity], vec.MaxDims) {
			tb.Fatalf("%v in a bin of %v", size, in.Capacities[in.BinTypes[kind].Capacity])
		}
		for a, n := range there {
			if most := in.Conflicts.PerBin[a]; most > 0 && n > most {
				tb.Fatalf("%d items of group %d in a bin, at most %d may be", n, a, most)
			}
			for b := range there {
				if b < a && in.Conflicts.Excludes[a][b] {
					tb.Fatalf("groups %d and %d share a bin", a, b)
				}
			}
		}
	}
	for i := range in.Items {
		left := int32(0)
		if r.Left != nil {
			left = r.Left[i]
		}
		want := int32(0)
		if !placeable(in, &in.Items[i]) {
			want = in.Items[i].Count
		}
		if left != want || packed[i]+left != in.Items[i].Count {
			tb.Fatalf("item %d: %d of %d packed, %d left, want %d", i, packed[i], in.Items[i].Count, left, want)
		}
	}
}

// placeable says whether some bin type holds one of the item.
func placeable(in *packing.Instance, it *packing.Item) bool {
	for b := in.Sets[it.Set].Next(0); b >= 0; b = in.Sets[it.Set].Next(b + 1) {
		if vec.Fits(&it.Size, &in.Capacities[in.BinTypes[b].Capacity], vec.MaxDims) {
			return true
		}
	}
	return false
}

// random is a small instance of everything: several bin types, sets, conflicts, and now
// and then an item that fits nowhere.
func random(r *rand.Rand, items int) *instanceBuilder {
	w := newInstance(3 + r.IntN(3))
	price := 0.0
	for range 1 + r.IntN(4) {
		price += 0.2 + r.Float64()
		w.bin(price, 4+r.Int64N(30), 4+r.Int64N(30), 2+r.Int64N(12), r.Int64N(3), r.Int64N(4))
	}
	for range r.IntN(3) {
		set := []int32{r.Int32N(int32(len(w.BinTypes)))}
		if other := r.Int32N(int32(len(w.BinTypes))); other != set[0] {
			set = append(set, other)
		}
		w.set(set...)
	}
	for range r.IntN(4) {
		var excludes []int32
		for o := range int32(len(w.Conflicts.PerBin)) {
			if r.IntN(3) == 0 {
				excludes = append(excludes, o)
			}
		}
		w.group(r.Int32N(3), excludes...)
	}
	for range items {
		size := []int64{r.Int64N(12), r.Int64N(12), 1, 0, 0}
		for d := 3; d < w.Dims; d++ {
			if r.IntN(4) == 0 {
				size[d] = 1
			}
		}
		it := w.item(1, size...)
		it.Set = r.Int32N(int32(len(w.Sets)))
		if n := int32(len(w.Conflicts.PerBin)); n > 0 && r.IntN(2) == 0 {
			it.Group = r.Int32N(n)
		}
	}
	return w
}
