package vec_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spokeshave.dev/controller/core/solver/vec"
)

func TestVector(t *testing.T) {
	capacity := vec.Vector{10, 20, 30, 0, 5}
	cases := map[string]struct {
		reason string
		demand vec.Vector
		n      int
		fits   bool
		times  int32
	}{
		"Nothing":   {"a demand of nothing fits as often as allowed", vec.Vector{}, 5, true, 7},
		"Exact":     {"equal amounts fit once", vec.Vector{10, 20, 30, 0, 5}, 5, true, 1},
		"Beyond":    {"one resource too much", vec.Vector{1, 21}, 5, false, 0},
		"Absent":    {"a resource that the capacity lacks", vec.Vector{0, 0, 0, 1}, 5, false, 0},
		"Scarcest":  {"the scarcest resource counts", vec.Vector{2, 5, 1, 0, 1}, 5, true, 4},
		"NotInUse":  {"resources from n on do not count", vec.Vector{2, 5, 1, 0, 9}, 4, true, 4},
		"AllowedTo": {"the limit counts", vec.Vector{1}, 5, true, 7},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := vec.Fits(&tc.demand, &capacity, tc.n); got != tc.fits {
				t.Errorf("%s: fits %v", tc.reason, got)
			}
			if got := vec.MaxCopies(&tc.demand, &capacity, 7, tc.n); got != tc.times {
				t.Errorf("%s: %d times, want %d", tc.reason, got, tc.times)
			}
		})
	}
	sum := vec.Vector{1, 2}
	sum.Add(&vec.Vector{3, 4, 5}, -2)
	if diff := cmp.Diff(vec.Vector{-5, -6, -10}, sum); diff != "" {
		t.Error(diff)
	}
	sum.Raise(&vec.Vector{-7, 1})
	if diff := cmp.Diff(vec.Vector{-5, 1}, sum); diff != "" {
		t.Error(diff)
	}
	if a, b := (vec.Vector{1, 2}), (vec.Vector{1, 3}); a.Compare(&b) >= 0 || b.Compare(&a) <= 0 || a.Compare(&a) != 0 {
		t.Error("vectors are ordered by their first difference")
	}
	if diff := cmp.Diff(vec.Reals{20, 10}, capacity.Scaled(&vec.Reals{2, 0.5, 1}, 2)); diff != "" {
		t.Error(diff)
	}
}

// TestBits holds random sets to what maps say.
func TestBits(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		n := 1 + r.IntN(200)
		a, inA := random(r, n)
		b, inB := random(r, n)
		both, either := a.Clone(), a.Clone()
		both.And(b)
		either.Or(b)
		var wantA, wantBoth, wantEither []int32
		contains := true
		for i := range int32(n) {
			if inA[i] {
				wantA = append(wantA, i)
			}
			if inA[i] && inB[i] {
				wantBoth = append(wantBoth, i)
			}
			if inA[i] || inB[i] {
				wantEither = append(wantEither, i)
			}
			contains = contains && (inA[i] || !inB[i])
		}
		for _, set := range []struct {
			got  vec.Bits
			want []int32
		}{{a, wantA}, {both, wantBoth}, {either, wantEither}} {
			if diff := cmp.Diff(set.want, set.got.AppendTo(nil)); diff != "" {
				t.Fatalf("seed %d: %s", seed, diff)
			}
			var walked []int32
			for i := set.got.Next(0); i >= 0; i = set.got.Next(i + 1) {
				walked = append(walked, i)
			}
			if !slices.Equal(walked, set.want) || set.got.Count() != len(set.want) || set.got.Empty() != (len(set.want) == 0) {
				t.Fatalf("seed %d: walked %v, counted %d, want %v", seed, walked, set.got.Count(), set.want)
			}
		}
		var common []int32
		for i := a.NextOfBoth(b, 0); i >= 0; i = a.NextOfBoth(b, i+1) {
			common = append(common, i)
		}
		if !slices.Equal(common, wantBoth) {
			t.Fatalf("seed %d: common %v, want %v", seed, common, wantBoth)
		}
		if a.Contains(b) != contains || a.Intersects(b) != (len(wantBoth) > 0) {
			t.Fatalf("seed %d: contains %v, intersects %v", seed, a.Contains(b), a.Intersects(b))
		}
	}
}

// random is a set of numbers below n, made of ranges and single numbers that are
// added and removed.
func random(r *rand.Rand, n int) (vec.Bits, map[int32]bool) {
	set, in := vec.NewBits(n), map[int32]bool{}
	for range 4 {
		from := int32(r.IntN(n))
		to := from + int32(r.IntN(n-int(from)+1))
		add := r.IntN(3) > 0
		if add {
			set.SetRange(from, to)
		} else {
			set.UnsetRange(from, to)
		}
		for i := from; i < to; i++ {
			in[i] = add
		}
		one := int32(r.IntN(n))
		if set.Set(one); r.IntN(2) == 0 {
			set.Unset(one)
		}
		in[one] = set.Has(one)
	}
	return set, in
}

// TestSets: equal sets have one number, and different ones have different numbers, which are indexes of All.
func TestSets(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	var sets vec.Sets
	for range 2000 {
		set := vec.NewBits(130)
		for range r.IntN(3) { // few members, so that many are equal
			set.Set(r.Int32N(130))
		}
		before := len(sets.All)
		known := slices.IndexFunc(sets.All, func(x vec.Bits) bool { return slices.Equal(x, set) })
		id := sets.ID(set)
		switch {
		case known >= 0 && (int(id) != known || len(sets.All) != before):
			t.Fatalf("an equal set had number %d, now %d", known, id)
		case known < 0 && (int(id) != before || !slices.Equal(sets.All[id], set)):
			t.Fatalf("a new set has number %d of %d", id, len(sets.All))
		}
	}
	if n := len(sets.All); n < 100 || n == 2000 {
		t.Fatalf("%d different sets: the test asks too little", n)
	}
}
