package solver

import "math/bits"

// bitset is a set of small integers, here of offers. Sets that are combined
// have equal lengths.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(i int32) { b[i>>6] |= 1 << (uint(i) & 63) }

func (b bitset) unset(i int32) { b[i>>6] &^= 1 << (uint(i) & 63) }

func (b bitset) has(i int32) bool { return b[i>>6]&(1<<(uint(i)&63)) != 0 }

// setRange adds the numbers from from up to to.
func (b bitset) setRange(from, to int32) {
	for w := from >> 6; w<<6 < to; w++ {
		b[w] |= window(from, to, w)
	}
}

// unsetRange removes the numbers from from up to to.
func (b bitset) unsetRange(from, to int32) {
	for w := from >> 6; w<<6 < to; w++ {
		b[w] &^= window(from, to, w)
	}
}

// window are the bits of word w for the numbers from from up to to.
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

func (b bitset) clone() bitset { return append(bitset(nil), b...) }

func (b bitset) and(o bitset) {
	for i := range b {
		b[i] &= o[i]
	}
}

func (b bitset) or(o bitset) {
	for i := range b {
		b[i] |= o[i]
	}
}

func (b bitset) empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// contains says whether every element of o is in b.
func (b bitset) contains(o bitset) bool {
	for i := range o {
		if o[i]&^b[i] != 0 {
			return false
		}
	}
	return true
}

// meets says whether the sets have an element in common; a nil set has none.
func (b bitset) meets(o bitset) bool {
	for i := range b {
		if b[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// list appends the elements to out.
func (b bitset) list(out []int32) []int32 {
	for w, x := range b {
		for ; x != 0; x &= x - 1 {
			out = append(out, int32(w*64+bits.TrailingZeros64(x)))
		}
	}
	return out
}

// next is the least element from i on, -1 when there is none.
func (b bitset) next(i int32) int32 {
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

// key is the contents as a map key.
func (b bitset) key() string {
	out := make([]byte, 0, 8*len(b))
	for _, w := range b {
		out = append(out, byte(w), byte(w>>8), byte(w>>16), byte(w>>24),
			byte(w>>32), byte(w>>40), byte(w>>48), byte(w>>56))
	}
	return string(out)
}
