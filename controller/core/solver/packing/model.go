package packing

import (
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// model is an instance, or a part of one, prepared for packing. Nothing in it
// changes afterwards, so that goroutines may share it.
type model struct {
	n         int
	items     []Item
	conflicts *Conflicts
	scale     vec.Reals
	// shape numbers the different sizes; items are sorted by it.
	shape []int32
	// sizes are the items' sizes, scaled.
	sizes []vec.Reals
	// perBin is how many of each item one bin takes, room apart.
	perBin []int32
	// degree counts, for items of which a bin takes one, the items that cannot
	// share it, themselves included.
	degree []int32
	// clique numbers sets of items that all exclude each other.
	clique []int32
	// mixed says that some items exclude others, but a bin takes several of them.
	mixed bool
	// bins are the kinds of bins worth using, sorted by cost.
	bins []bin
}

// newModel prepares items, the same sizes of which are neighbours; shape numbers
// their sizes. Bins are left to the caller.
func newModel(in *Instance, items []Item, shape []int32) *model {
	m := &model{
		n: in.Dims, items: items, conflicts: &in.Conflicts, scale: in.Scale, shape: shape,
		sizes: make([]vec.Reals, len(items)), perBin: make([]int32, len(items)), degree: make([]int32, len(items)),
	}
	for i := range items {
		it := &items[i]
		m.sizes[i] = it.Size.Scaled(&m.scale, m.n)
		m.perBin[i] = m.conflicts.perBin(it.Group)
		m.mixed = m.mixed || it.Group >= 0 && !m.conflicts.single(it.Group)
		if !m.conflicts.single(it.Group) {
			continue
		}
		for j := range items {
			if m.conflicts.between(it.Group, items[j].Group) {
				m.degree[i]++
			}
		}
	}
	m.clique = cliques(items, m.conflicts)
	return m
}

// shapes numbers the different sizes of items of which those of the same size are
// neighbours.
func shapes(items []Item) []int32 {
	out := make([]int32, len(items))
	for i := 1; i < len(items); i++ {
		out[i] = out[i-1]
		if items[i].Size != items[i-1].Size {
			out[i]++
		}
	}
	return out
}

// cliques puts every item of which a bin takes one into the first clique that it
// excludes all members of.
func cliques(items []Item, conflicts *Conflicts) []int32 {
	out := make([]int32, len(items))
	var members [][]int32
next:
	for i := range items {
		mine := items[i].Group
		if !conflicts.single(mine) {
			continue
		}
		for c := range members {
			if !slices.ContainsFunc(members[c], func(other int32) bool { return !conflicts.between(mine, other) }) {
				out[i] = int32(c)
				if !slices.Contains(members[c], mine) {
					members[c] = append(members[c], mine)
				}
				continue next
			}
		}
		out[i] = int32(len(members))
		members = append(members, []int32{mine})
	}
	return out
}

// used says of which resources any item takes some.
func (m *model) used() (out [vec.MaxDims]bool) {
	for i := range m.items {
		for r, v := range m.items[i].Size {
			out[r] = out[r] || v > 0
		}
	}
	return out
}

// most is how many of an item one bin takes, room apart.
func (m *model) most(i int32) int32 { return min(m.items[i].Count, m.perBin[i]) }

// size is what the items of a pattern take together.
func (m *model) size(f *Pattern) (d vec.Vector) {
	for q, i := range f.Items {
		d.Add(&m.items[i].Size, int64(f.Counts[q]))
	}
	return d
}

// total is what the bins cost.
func (m *model) total(list []Batch) float64 {
	sum := 0.0
	for _, f := range list {
		sum += float64(m.bins[f.Bin].cost * float64(f.Times))
	}
	return sum
}

// cheapest is the cheapest bin that may hold the pattern's items and has room for so
// much; the pattern's own when there is none.
func (m *model) cheapest(f *Pattern, size *vec.Vector) int32 {
	if b := cheapest(m.bins, f.Items, size, m.n); b >= 0 {
		return b
	}
	return f.Bin
}

func cheapest(bins []bin, items []int32, size *vec.Vector, n int) int32 {
next:
	for b := range bins {
		if !vec.Fits(size, &bins[b].capacity, n) {
			continue
		}
		for _, i := range items {
			if !bins[b].items.Has(i) {
				continue next
			}
		}
		return int32(b)
	}
	return -1
}

// downsize moves every batch to the cheapest bin that holds it.
func (m *model) downsize(list []Batch) {
	for i, f := range list {
		d := m.size(f.Pattern)
		if b := m.cheapest(f.Pattern, &d); b != f.Bin {
			list[i].Pattern = &Pattern{Bin: b, Items: f.Items, Counts: f.Counts}
		}
	}
}
