package packing

import "spokeshave.dev/controller/core/solver/vec"

// Pattern is a filling of one bin.
type Pattern struct {
	// Bin is an index into Result.Bins.
	Bin int32
	// Items are item numbers, Counts how many of each: at least 1.
	Items, Counts []int32
}

// Batch is a number of bins filled by one pattern.
type Batch struct {
	*Pattern

	Times int32
}

// Result is a packing.
type Result struct {
	Batches []Batch
	// Left is how many of each item found no bin: those that no bin type of their
	// set has room for. nil when all are packed.
	Left  []int32
	Stats Stats

	bins []bin
	n    int
	// position is, by item, its number in bins, -1 for none; nil when they are the
	// same.
	position []int32
}

// Stats says what a packing took.
type Stats struct {
	// Passes are looks at all bin types, Pivots those of restricted masters.
	Passes, Pivots int
	// Bins is how many bin types were worth looking at.
	Bins int
}

// Type is the number of the bin type that a Pattern.Bin stands for.
func (r *Result) Type(bin int32) int32 { return r.bins[bin].kind }

// Capacity is what a Pattern.Bin holds.
func (r *Result) Capacity(bin int32) *vec.Vector { return &r.bins[bin].capacity }

// Cost is what a Pattern.Bin costs.
func (r *Result) Cost(bin int32) float64 { return r.bins[bin].cost }

// Cheapest is the cheapest bin that may hold the items of a pattern and has room
// for so much; the pattern's own when there is none.
func (r *Result) Cheapest(f *Pattern, size *vec.Vector) int32 {
	items := f.Items
	if r.position != nil {
		items = make([]int32, len(f.Items))
		for q, i := range f.Items {
			items[q] = r.position[i]
		}
	}
	if b := cheapest(r.bins, items, size, r.n); b >= 0 {
		return b
	}
	return f.Bin
}

// bins is how many there are of all batches.
func bins(list []Batch) int32 {
	n := int32(0)
	for i := range list {
		n += list[i].Times
	}
	return n
}
