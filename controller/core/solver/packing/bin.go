package packing

import (
	"cmp"
	"math/bits"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// bin is a kind of bin that packing chooses from: a capacity at its cheapest bin
// type among those that the same items may use.
type bin struct {
	kind     int32 // the number of the bin type
	cost     float64
	capacity vec.Vector
	size     vec.Reals // the capacity, scaled
	// sets are those that list the bin type.
	sets vec.Bits
	// items may use the bin and fit it; free are those of which it takes any
	// number.
	items, free vec.Bits
	// plain lists the free items, exclusive those of which a bin takes one, by
	// clique.
	plain, exclusive []int32
	// dims is how many resources, counted from the first, its items take of.
	dims int
}

// layout is what depends on the items alone when it is worked out which of them a
// bin holds.
type layout struct {
	m *model
	// ends are where runs of items of equal size end.
	ends []int32
	// exclusive are the items of which a bin takes one; asking, by resource from
	// the fourth on, those that take of it.
	exclusive vec.Bits
	asking    [vec.MaxDims]vec.Bits
	slab      slab
}

func newLayout(m *model) *layout {
	l := &layout{m: m, ends: make([]int32, 0, len(m.items)), exclusive: vec.NewBits(len(m.items))}
	for i := range m.items {
		it := &m.items[i]
		if i+1 == len(m.items) || m.items[i+1].Size != it.Size {
			l.ends = append(l.ends, int32(i+1))
		}
		if m.conflicts.single(it.Group) {
			l.exclusive.Set(int32(i))
		}
		for d := 3; d < m.n; d++ {
			if it.Size[d] == 0 {
				continue
			}
			if l.asking[d] == nil {
				l.asking[d] = vec.NewBits(len(m.items))
			}
			l.asking[d].Set(int32(i))
		}
	}
	return l
}

// serve lists the items that fit the bin, and reports whether there are any;
// allowed are those that may use it, nil for all.
func (l *layout) serve(b *bin, allowed vec.Bits) bool {
	words := (len(l.m.items) + 63) / 64
	b.items, b.free, b.dims = l.slab.bits(words), l.slab.bits(words), 3
	from := int32(0)
	for _, to := range l.ends {
		if vec.Fits(&l.m.items[from].Size, &b.capacity, l.m.n) {
			b.items.SetRange(from, to)
		}
		from = to
	}
	if allowed != nil {
		b.items.And(allowed)
	}
	for d := l.m.n - 1; d >= 3; d-- {
		if l.asking[d].Intersects(b.items) {
			b.dims = d + 1
			break
		}
	}
	list := l.slab.list(b.items.Count())
	for w := range b.free {
		b.free[w] = b.items[w] &^ l.exclusive[w]
	}
	list = b.free.AppendTo(list)
	b.plain = slices.Clip(list)
	if len(list) == cap(list) {
		return len(list) > 0
	}
	for w := range b.items {
		for x := b.items[w] & l.exclusive[w]; x != 0; x &= x - 1 {
			list = append(list, int32(w*64+bits.TrailingZeros64(x)))
		}
	}
	b.exclusive = list[len(b.plain):]
	slices.SortStableFunc(b.exclusive, func(x, y int32) int { return cmp.Compare(l.m.clique[x], l.m.clique[y]) })
	return true
}

// slab cuts small lists from large ones, each twice as large as the last: there
// are some hundred bins, with four lists each.
type slab struct {
	words   vec.Bits
	numbers []int32
	size    int
}

// grow is how much to allocate now, at least n.
func (s *slab) grow(n int) int {
	s.size = min(max(256, 2*s.size), 8192)
	return max(n, s.size)
}

// bits is an empty set of so many words.
func (s *slab) bits(words int) vec.Bits {
	if len(s.words) < words {
		s.words = make(vec.Bits, s.grow(words))
	}
	out := s.words[:words:words]
	s.words = s.words[words:]
	return out
}

// list is an empty list with room for n numbers.
func (s *slab) list(n int) []int32 {
	if len(s.numbers) < n {
		s.numbers = make([]int32, s.grow(n))
	}
	out := s.numbers[:0:n]
	s.numbers = s.numbers[n:]
	return out
}
