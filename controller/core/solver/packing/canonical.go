package packing

import "slices"

// compareItems orders items: larger ones first, by resources in order, then by the
// bin types that they may use.
func (in *Instance) compareItems(x, y *Item) int {
	if o := y.Size.Compare(&x.Size); o != 0 || x.Set == y.Set {
		return o
	}
	return slices.Compare(in.Sets[x.Set], in.Sets[y.Set])
}

// sorted is the instance with its items in order, and where each of them was; nil
// when they are in order already. Items that are equal in size and set keep their
// order.
func (in *Instance) sorted() (*Instance, []int32) {
	if slices.IsSortedFunc(in.Items, func(x, y Item) int { return in.compareItems(&x, &y) }) {
		return in, nil
	}
	from := make([]int32, len(in.Items))
	for i := range from {
		from[i] = int32(i)
	}
	slices.SortStableFunc(from, func(x, y int32) int { return in.compareItems(&in.Items[x], &in.Items[y]) })
	return in.only(from), from
}

// only is the instance with some of its items.
func (in *Instance) only(items []int32) *Instance {
	out := *in
	out.Items = make([]Item, len(items))
	for i, at := range items {
		out.Items[i] = in.Items[at]
	}
	return &out
}

// served lists the items that some bin holds, nil when all are held.
func (m *model) served() []int32 {
	held := make([]bool, len(m.items))
	n := 0
	for b := range m.bins {
		for i := m.bins[b].items.Next(0); i >= 0; i = m.bins[b].items.Next(i + 1) {
			if !held[i] {
				held[i] = true
				if n++; n == len(held) {
					return nil
				}
			}
		}
	}
	out := make([]int32, 0, n)
	for i := range held {
		if held[i] {
			out = append(out, int32(i))
		}
	}
	return out
}

// rename writes a result in the item numbers of the instance before it was sorted and
// reduced to some items.
func (r *Result) rename(from []int32, items int) {
	if from == nil {
		return
	}
	r.position = make([]int32, items)
	for i := range r.position {
		r.position[i] = -1
	}
	for i, at := range from {
		r.position[at] = int32(i)
	}
	for k, f := range r.Batches {
		named := &Pattern{Bin: f.Bin, Items: make([]int32, len(f.Items)), Counts: f.Counts}
		for q, i := range f.Items {
			named.Items[q] = from[i]
		}
		r.Batches[k].Pattern = named
	}
}
