package vec

import "math/bits"

// Bits is a set of integers from 0 up to a size fixed when it is made. Methods
// that take another set expect one of the same size, unless they say otherwise.
// A nil Bits is empty; nothing can be added to it.
type Bits []uint64

// NewBits is an empty set for the numbers below n.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// Set adds i.
func (b Bits) Set(i int32) { b[i>>6] |= 1 << (uint(i) & 63) }

// Unset removes i.
func (b Bits) Unset(i int32) { b[i>>6] &^= 1 << (uint(i) & 63) }

// Has reports whether i is in the set.
func (b Bits) Has(i int32) bool { return b[i>>6]&(1<<(uint(i)&63)) != 0 }

// SetRange adds the numbers from..to-1.
func (b Bits) SetRange(from, to int32) {
	for w := from >> 6; w<<6 < to; w++ {
		b[w] |= window(from, to, w)
	}
}

// UnsetRange removes the numbers from..to-1.
func (b Bits) UnsetRange(from, to int32) {
	for w := from >> 6; w<<6 < to; w++ {
		b[w] &^= window(from, to, w)
	}
}

// window has the bits of word w that stand for the numbers from..to-1.
func window(from, to, w int32) uint64 {
	mask := ^uint64(0)
	if low := from - w<<6; low > 0 {
		mask <<= uint(low)
	}
	if high := to - w<<6; high < 64 {
		mask &= 1<<uint(high) - 1
	}
	return mask
}

// Clone is a copy that shares nothing with b.
func (b Bits) Clone() Bits { return append(Bits(nil), b...) }

// And removes what is not in o.
func (b Bits) And(o Bits) {
	for i := range b {
		b[i] &= o[i]
	}
}

// Or adds what is in o.
func (b Bits) Or(o Bits) {
	for i := range b {
		b[i] |= o[i]
	}
}

// Empty reports whether the set has no element.
func (b Bits) Empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

// Count is the number of elements.
func (b Bits) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Contains reports whether every element of o is in b.
func (b Bits) Contains(o Bits) bool {
	for i := range o {
		if o[i]&^b[i] != 0 {
			return false
		}
	}
	return true
}

// Intersects reports whether the sets have an element in common. b may be nil.
func (b Bits) Intersects(o Bits) bool {
	for i := range b {
		if b[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// AppendTo appends the elements to out, in ascending order.
func (b Bits) AppendTo(out []int32) []int32 {
	for w, x := range b {
		for ; x != 0; x &= x - 1 {
			out = append(out, int32(w*64+bits.TrailingZeros64(x)))
		}
	}
	return out
}

// Next is the least element that is at least i, -1 when there is none.
func (b Bits) Next(i int32) int32 {
	w := int(i >> 6)
	if w >= len(b) {
		return -1
	}
	for word := b[w] >> (uint(i) & 63) << (uint(i) & 63); ; word = b[w] {
		if word != 0 {
			return int32(w*64 + bits.TrailingZeros64(word))
		}
		if w++; w == len(b) {
			return -1
		}
	}
}

// NextOfBoth is the least element of both sets that is at least i, -1 when there is none.
func (b Bits) NextOfBoth(o Bits, i int32) int32 {
	from := ^uint64(0) << (uint(i) & 63)
	for w := int(i >> 6); w < len(b); w++ {
		if word := b[w] & o[w] & from; word != 0 {
			return int32(w*64 + bits.TrailingZeros64(word))
		}
		from = ^uint64(0)
	}
	return -1
}
