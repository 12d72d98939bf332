package packing

import (
	"math"

	"spokeshave.dev/controller/core/solver/vec"
)

// Instance is a problem of cutting stock: pack all items into bins at the least
// sum of the bins' costs. Any number of bins of each type may be used.
type Instance struct {
	// Dims is how many resources of the vectors are in use, 3 at least; amounts
	// of the others are 0.
	Dims int
	// Items are packed largest first where an algorithm depends on an order.
	Items []Item
	// Capacities are what bins hold. Bin types that differ in cost or in who may
	// use them share one.
	Capacities []vec.Vector
	BinTypes   []BinType
	// ByCost has all bin types, in lists that are each sorted by cost, then by
	// number.
	ByCost [][]int32
	// Sets are sets of bin types by number, each with an element at least: Item.Set
	// says which may hold an item.
	Sets []vec.Bits
	// Conflicts says which items keep others out of their bin.
	Conflicts Conflicts
	// Scale makes amounts of different resources comparable: about 1,000 for the
	// mean item.
	Scale vec.Reals
}

// Item is a number of equal items.
type Item struct {
	Size vec.Vector
	// Count is how many there are, at least 1.
	Count int32
	// Set is an index into Instance.Sets.
	Set int32
	// Group is an index into Instance.Conflicts, NoGroup for items that share
	// a bin with anything.
	Group int32
}

// NoGroup is the Group of items without conflicts.
const NoGroup int32 = -1

// BinType is a kind of bin.
type BinType struct {
	// Capacity is an index into Instance.Capacities.
	Capacity int32
	// Family joins bin types: first fit tries a packing whose bins stay within the
	// family that suits their first item.
	Family int32
	// Cost is more than 0.
	Cost float64
}

// Conflicts says which items cannot share a bin, by group.
type Conflicts struct {
	// PerBin is how many items of a group fit in one bin, 0 for any number.
	PerBin []int32
	// Excludes[a][b], for b <= a, says that no item of group a shares a bin with
	// one of group b. For b = a it means the same as a PerBin of 1.
	Excludes [][]bool
}

// between reports whether items of two groups cannot share a bin.
func (c *Conflicts) between(a, b int32) bool {
	if a < 0 || b < 0 {
		return false
	}
	return c.Excludes[max(a, b)][min(a, b)]
}

// perBin is how many items of a group fit in one bin.
func (c *Conflicts) perBin(group int32) int32 {
	if group < 0 || c.PerBin[group] == 0 {
		return math.MaxInt32
	}
	return c.PerBin[group]
}

// single reports whether a bin takes no second item of the group.
func (c *Conflicts) single(group int32) bool { return group >= 0 && c.PerBin[group] == 1 }

// items is how many there are of all.
func (in *Instance) items() int32 { return count(in.Items) }

func count(items []Item) int32 {
	n := int32(0)
	for i := range items {
		n += items[i].Count
	}
	return n
}
