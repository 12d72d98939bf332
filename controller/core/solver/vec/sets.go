package vec

import (
	"math/bits"
	"slices"
)

// Sets numbers sets by their contents. The zero value has none.
type Sets struct {
	// All are the sets, by number. They must not change.
	All []Bits
	// ids are the numbers of the sets, by their hash.
	ids map[uint64][]int32
}

// ID returns the number of a set. It keeps a set that is new, which must not change
// from then on.
func (t *Sets) ID(set Bits) int32 {
	h := set.hash()
	for _, id := range t.ids[h] {
		if slices.Equal(t.All[id], set) {
			return id
		}
	}
	if t.ids == nil {
		t.ids = map[uint64][]int32{}
	}
	id := int32(len(t.All))
	t.ids[h] = append(t.ids[h], id)
	t.All = append(t.All, set)
	return id
}

// hash returns a number that is the same for equal sets.
func (b Bits) hash() uint64 {
	h := uint64(len(b))
	for _, w := range b {
		high, low := bits.Mul64(h^w^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
		h = high ^ low
	}
	return h
}
