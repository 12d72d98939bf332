package packing

import (
	"cmp"
	"math/bits"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// reduction chooses the bins worth looking at: a bin type that costs no less than
// another, has no more capacity and serves no other items is left out.
type reduction struct {
	in *Instance
	// signature numbers, by bin type, the sets that list it; groups are those sets
	// by that number. 0 is no set.
	signature []int32
	groups    []vec.Bits
	// wider lists, by signature, those that have all of its sets, itself first.
	wider [][]int32
}

// reduce is the bins of an instance, for a model of all its items.
func reduce(in *Instance, m *model) []bin {
	d := reduction{in: in}
	d.sign()
	var (
		layout = newLayout(m)
		used   = m.used()
		kept   = make([][]keptBin, len(d.groups)) // by signature
		served = make([]vec.Bits, len(d.groups))  // items by signature
		seen   = newChain(len(in.Capacities), len(in.BinTypes))
		out    = make([]bin, 0, min(len(in.Capacities), 512))
	)
next:
	for _, k := range merge(in, d.cheapestOfEach(&seen)) {
		sig := d.signature[k]
		if !d.first(&seen, k) {
			continue
		}
		has := &in.Capacities[in.BinTypes[k].Capacity]
		first, second := lead(has, &used)
		held := func(o keptBin) bool { // being before, it costs no more
			return first <= o.first && second <= o.second && within(has, &out[o.at].capacity, &used, m.n)
		}
		for _, g := range d.widerThan(sig) {
			if slices.ContainsFunc(kept[g], held) {
				continue next
			}
		}
		if served[sig] == nil {
			served[sig] = itemsOf(m.items, d.groups[sig])
		}
		b := bin{kind: k, capacity: *has, size: has.Scaled(&m.scale, m.n), cost: in.BinTypes[k].Cost, sets: d.groups[sig]}
		if layout.serve(&b, served[sig]) {
			kept[sig] = append(kept[sig], keptBin{first: first, second: second, at: int32(len(out))})
			out = append(out, b)
		}
	}
	return out
}

// first reports whether a bin type is the first one of those seen with its capacity and signature, and
// notes it. It is false for a bin type that no set lists.
func (d *reduction) first(seen *chain, k int32) bool {
	sig, capacity := d.signature[k], d.in.BinTypes[k].Capacity
	if sig == 0 {
		return false
	}
	for x := seen.last[capacity]; x > 0; x = seen.before[x-1] {
		if d.signature[x-1] == sig {
			return false // the cheapest one came before
		}
	}
	seen.add(capacity, k)
	return true
}

// cheapestOfEach returns the lists of bin types by cost, each with only the first one of every capacity
// and signature, so that there is less to merge. seen is empty, and is so again.
func (d *reduction) cheapestOfEach(seen *chain) [][]int32 {
	if len(d.in.ByCost) < 2 {
		return d.in.ByCost
	}
	out := make([][]int32, len(d.in.ByCost))
	for i, list := range d.in.ByCost {
		for _, k := range list {
			if d.first(seen, k) {
				out[i] = append(out[i], k)
			}
		}
		clear(seen.last)
	}
	return out
}

// keptBin is a bin that was chosen, by its position, with its amounts of the first two
// resources: most comparisons end there, and there are some ten thousand a packing.
type keptBin struct {
	first, second int64
	at            int32
}

// lead is the amounts of the first two resources, 0 for one that is not in use.
func lead(capacity *vec.Vector, used *[vec.MaxDims]bool) (first, second int64) {
	if used[0] {
		first = capacity[0]
	}
	if used[1] {
		second = capacity[1]
	}
	return first, second
}

// chain lists bin types by capacity, the last one first; numbers are one more than
// the bin type's, 0 ends a list.
type chain struct{ last, before []int32 }

func newChain(capacities, types int) chain {
	return chain{last: make([]int32, capacities), before: make([]int32, types)}
}

func (c *chain) add(capacity, kind int32) {
	c.before[kind], c.last[capacity] = c.last[capacity], kind+1
}

// sign numbers, for every bin type, the sets that list it.
func (d *reduction) sign() {
	d.signature = make([]int32, len(d.in.BinTypes))
	d.groups = []vec.Bits{vec.NewBits(len(d.in.Sets))}
	for s, set := range d.in.Sets {
		renamed := make([]int32, len(d.groups))
		for w, x := range set {
			for ; x != 0; x &= x - 1 {
				old := &d.signature[w*64+bits.TrailingZeros64(x)]
				if renamed[*old] == 0 {
					renamed[*old] = int32(len(d.groups))
					more := d.groups[*old].Clone()
					more.Set(int32(s))
					d.groups = append(d.groups, more)
				}
				*old = renamed[*old]
			}
		}
	}
	d.wider = make([][]int32, len(d.groups))
}

// widerThan are the signatures with all sets of one, itself first.
func (d *reduction) widerThan(sig int32) []int32 {
	if d.wider[sig] == nil {
		d.wider[sig] = []int32{sig}
		for g := range d.groups {
			if int32(g) != sig && d.groups[g].Contains(d.groups[sig]) {
				d.wider[sig] = append(d.wider[sig], int32(g))
			}
		}
	}
	return d.wider[sig]
}

// itemsOf are the items that use one of the given sets.
func itemsOf(items []Item, sets vec.Bits) vec.Bits {
	out := vec.NewBits(len(items))
	for i := range items {
		if sets.Has(items[i].Set) {
			out.Set(int32(i))
		}
	}
	return out
}

// merge merges lists of bin types that are in order of cost.
func merge(in *Instance, lists [][]int32) []int32 {
	switch len(lists) {
	case 0:
		return nil
	case 1:
		return lists[0]
	}
	a, b := merge(in, lists[:len(lists)/2]), merge(in, lists[len(lists)/2:])
	out := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if in.compare(b[0], a[0]) < 0 {
			out, b = append(out, b[0]), b[1:]
		} else {
			out, a = append(out, a[0]), a[1:]
		}
	}
	return append(append(out, a...), b...)
}

// compare orders bin types by cost, then by number.
func (in *Instance) compare(a, b int32) int {
	if o := cmp.Compare(in.BinTypes[a].Cost, in.BinTypes[b].Cost); o != 0 {
		return o
	}
	return cmp.Compare(a, b)
}

// within reports whether a has no more than b of any resource in use.
func within(a, b *vec.Vector, used *[vec.MaxDims]bool, n int) bool {
	if used[0] && a[0] > b[0] || used[1] && a[1] > b[1] {
		return false
	}
	for r := 2; r < n; r++ {
		if used[r] && a[r] > b[r] {
			return false
		}
	}
	return true
}
