package packing

import "spokeshave.dev/controller/core/solver/vec"

// openBin is a bin in the making and the bins that it still may be.
type openBin struct {
	*Pattern

	bins vec.Bits
	size vec.Vector
}

// firstFit packs items by decreasing size, each into the first bin that has room for
// it whatever its type, and leaves it to downsize to choose the type. It is a poor
// packing in general, but hard to beat where a handful of items with many constraints
// have to share. opened, if not nil, may narrow down what a bin may be that has got
// its first item.
func firstFit(m *model, opened func(*openBin)) []Batch {
	var open []openBin
	for i := range m.items {
		for range m.items[i].Count {
			if m.joinAny(open, int32(i)) {
				continue
			}
			fresh := openBin{Pattern: &Pattern{}, bins: vec.NewBits(len(m.bins))}
			fresh.bins.SetRange(0, int32(len(m.bins)))
			if !m.join(&fresh, int32(i)) {
				continue
			}
			if opened != nil {
				opened(&fresh)
			}
			open = append(open, fresh)
		}
	}
	out := make([]Batch, len(open))
	for j := range open {
		open[j].Bin = open[j].bins.Next(0)
		out[j] = Batch{open[j].Pattern, 1}
	}
	return out
}

// joinAny adds one of an item to the first bin that takes it.
func (m *model) joinAny(open []openBin, i int32) bool {
	for j := range open {
		if m.join(&open[j], i) {
			return true
		}
	}
	return false
}

// join adds one of an item to a bin, if there is a type for both.
func (m *model) join(n *openBin, i int32) bool {
	if m.crowds(i, 1, n.Pattern) {
		return false
	}
	size := n.size
	size.Add(&m.items[i].Size, 1)
	left := vec.NewBits(len(m.bins))
	for b := n.bins.Next(0); b >= 0; b = n.bins.Next(b + 1) {
		if m.bins[b].items.Has(i) && vec.Fits(&size, &m.bins[b].capacity, m.n) {
			left.Set(b)
		}
	}
	if left.Empty() {
		return false
	}
	n.bins, n.size = left, size
	if last := len(n.Items) - 1; last >= 0 && n.Items[last] == i {
		n.Counts[last]++
	} else {
		n.Items, n.Counts = append(n.Items, i), append(n.Counts, 1)
	}
	return true
}

// crowds reports whether n more of an item are too many for a bin.
func (m *model) crowds(i, n int32, f *Pattern) bool {
	mine := m.items[i].Group
	if mine < 0 {
		return false
	}
	for q, j := range f.Items {
		other := m.items[j].Group
		if m.conflicts.between(mine, other) {
			return true
		}
		if mine == other {
			n += f.Counts[q]
		}
	}
	return n > m.perBin[i]
}

// crowded reports whether conflicts keep two bins apart.
func (m *model) crowded(a, b *Pattern) bool {
	for q, i := range a.Items {
		n := a.Counts[q]
		for r, j := range a.Items {
			if r != q && m.items[i].Group == m.items[j].Group {
				n += a.Counts[r]
			}
		}
		if m.crowds(i, n, b) {
			return true
		}
	}
	return false
}
