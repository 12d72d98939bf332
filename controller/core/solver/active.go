package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// extraActive is how many bin types of each block are active besides those that
// its program takes.
const extraActive = 8

// activate chooses the bin types that greedy looks at: those that the programs
// take, and those that promise most in each block. The others are nearly
// always chosen by downsizing alone, which looks at all.
func (k *packer) activate(parts []solved) {
	index := make(map[int32]int32, len(k.binTypes))
	for s := range k.binTypes {
		index[k.binTypes[s].offer] = int32(s)
	}
	k.active = vec.NewBits(len(k.binTypes))
	set := func(b *block, s int32) {
		if at, ok := index[b.binTypes[s].offer]; ok {
			k.active.Set(at)
		}
	}
	for i := range parts {
		b := parts[i].block
		for _, f := range parts[i].patterns {
			set(b, f.binType)
		}
		for _, s := range b.promising() {
			set(b, s)
		}
	}
}

// promising are the bin types of a block that could be worth most for their cost,
// as far as the last prices of their room tell.
func (b *block) promising() []int32 {
	b.refill()
	rate := make([]float64, len(b.binTypes))
	order := make([]int32, len(b.binTypes))
	for s := range b.binTypes {
		rate[s], order[s] = b.rateUpperBound(int32(s)), int32(s)
	}
	slices.SortStableFunc(order, func(x, y int32) int { return cmp.Compare(rate[y], rate[x]) })
	return order[:min(extraActive, len(order))]
}
