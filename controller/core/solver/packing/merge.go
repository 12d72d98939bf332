package packing

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// merger joins pairs of bins.
type merger struct {
	m *model
	// reach is, by bin, how large it and those before it, the cheaper ones, are.
	reach []reach
}

// reach is an amount of the first two resources.
type reach [2]int64

func newMerger(m *model) *merger {
	g := &merger{m: m, reach: make([]reach, len(m.bins))}
	var most reach
	for b := range m.bins {
		has := &m.bins[b].capacity
		most = reach{max(most[0], has[0]), max(most[1], has[1])}
		g.reach[b] = most
	}
	return g
}

// holding is a bin before which none holds so much.
func (g *merger) holding(size *vec.Vector) int32 {
	from, to := 0, len(g.reach)
	for from < to {
		if mid := (from + to) / 2; g.reach[mid][0] < size[0] || g.reach[mid][1] < size[1] {
			from = mid + 1
		} else {
			to = mid
		}
	}
	return int32(from)
}

// single is one bin, with what joining it to others depends on.
type single struct {
	Batch

	size  vec.Vector
	items vec.Bits
}

// merge joins pairs of bins as long as one bin costs less than the two.
func (g *merger) merge(list []Batch) []Batch {
	slices.SortStableFunc(list, func(a, b Batch) int { return cmp.Compare(a.Bin, b.Bin) })
	each := make([]single, len(list))
	for i, f := range list {
		each[i] = single{Batch: f, size: g.m.size(f.Pattern), items: vec.NewBits(len(g.m.items))}
		for _, r := range f.Items {
			each[i].items.Set(r)
		}
	}
	for i := 0; i < len(each); i++ {
		from := 0
		if i > 0 && each[i].Pattern == each[i-1].Pattern {
			from = i - 1 // its twin has tried all the others
		}
		for j := from; j < i; j++ {
			if f := g.join(&each[i], &each[j]); f != nil {
				each[i] = *f
				each = slices.Delete(each, j, j+1)
				i, j = i-1, -1
			}
		}
	}
	list = list[:0]
	for i := range each {
		list = append(list, each[i].Batch)
	}
	return list
}

// join makes one bin of two if that costs less, nil otherwise.
func (g *merger) join(a, b *single) *single {
	most := (g.m.bins[a.Bin].cost + g.m.bins[b.Bin].cost) * (1 - 1e-9)
	sum := a.size
	sum.Add(&b.size, 1)
	for at := max(a.Bin, b.Bin, g.holding(&sum)); int(at) < len(g.m.bins) && g.m.bins[at].cost < most; at++ {
		t := &g.m.bins[at]
		if !vec.Fits(&sum, &t.capacity, g.m.n) || !t.items.Contains(a.items) || !t.items.Contains(b.items) {
			continue
		}
		if g.m.crowded(a.Pattern, b.Pattern) {
			return nil
		}
		f := &Pattern{Bin: at, Items: slices.Concat(a.Items, b.Items), Counts: slices.Concat(a.Counts, b.Counts)}
		items := a.items.Clone()
		items.Or(b.items)
		return &single{Batch: Batch{f, 1}, size: sum, items: items}
	}
	return nil
}
