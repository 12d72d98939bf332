package solver

import (
	"cmp"
	"math/bits"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// Up to maxRequests different requests are packed exactly. When there are more,
// similar requests are joined until at most maxMergedItems items are left.
const (
	maxRequests    = 160
	maxMergedItems = 96
)

// countRequests counts the different requests; items are sorted by them.
func countRequests(items []item) int {
	if len(items) == 0 {
		return 0
	}
	return int(items[len(items)-1].requestID) + 1
}

// item is a number of pods that are interchangeable for packing: they have equal
// requests, equal sets of offers, and exclude the same pods from their node.
type item struct {
	request   vec.Vector
	requestID int32 // numbers different requests
	set       int32 // index into packingRound.sets
	conflict  int32
	n         int32
	members   []classCount
}

type itemKey struct {
	request       vec.Vector
	set, conflict int32
}

// itemsFor makes items of the pods that are left and may be packed now. It leaves
// out classes for which nothing can be launched.
func (a *attempt) itemsFor(k *packingRound, allowed vec.Bits) {
	items := make([]item, 0, min(len(a.p.classes), 256))
	var table setTable
	ids := make(map[itemKey]int32, cap(items))
	memo := map[[2]int32]int32{}
	a.hits = a.hits[:0]
	for c := range a.p.classes {
		cl := &a.p.classes[c]
		if a.left[c] == 0 || cl.priority < a.floor || len(cl.reasons) > 0 {
			continue
		}
		set := a.chooseSet(&table, memo, cl, allowed)
		if set < 0 {
			continue
		}
		key := itemKey{cl.req, set, cl.conflict}
		i, ok := ids[key]
		if !ok {
			i = int32(len(items))
			ids[key] = i
			items = append(items, item{request: cl.req, set: set, conflict: cl.conflict})
		}
		items[i].n += a.left[c]
		items[i].members = append(items[i].members, classCount{int32(c), a.left[c]})
	}
	a.sortItems(items, table.sets)
	a.constrainedFirst(items)
	if k.merged = countRequests(items) > maxRequests; k.merged {
		if items = a.mergeItems(items, table.sets); k.meanRequests {
			a.useMeans(items)
		}
		a.sortItems(items, table.sets)
	}
	k.items, k.sets = items, table.sets
}

// constrainedFirst puts the pods with rules for their node before those without, so
// that they are placed while there are many nodes to choose from.
func (a *attempt) constrainedFirst(items []item) {
	if len(a.p.topology.All) == 0 {
		return
	}
	rank := func(t classCount) int {
		switch terms := a.p.classes[t.class].terms; {
		case terms == nil:
			return 2
		case len(terms.HostRules) > 0:
			return 0
		}
		return 1
	}
	for i := range items {
		slices.SortStableFunc(items[i].members, func(x, y classCount) int { return cmp.Compare(rank(x), rank(y)) })
	}
}

// chooseSet returns the set of offers for the class in this round: the offers of the
// heaviest pools in which one fits; -1 when none does.
func (a *attempt) chooseSet(table *setTable, memo map[[2]int32]int32, cl *class, allowed vec.Bits) int32 {
	for level := range a.p.supply.WeightRanks {
		k := [2]int32{cl.offers, level}
		id, ok := memo[k]
		if !ok {
			set := a.p.choices.sets[cl.offers].Clone()
			set.And(allowed)
			for l := range a.p.supply.Templates {
				if a.p.supply.Templates[l].WeightRank != level {
					set.UnsetRange(a.p.supply.Templates[l].From, a.p.supply.Templates[l].To)
				}
			}
			if a.p.supply.DropTooLarge(set); set.Empty() {
				id = -1
			} else {
				id = table.id(set)
			}
			memo[k] = id
		}
		if id >= 0 && a.hit(&cl.req, id, table.sets[id]) {
			return id
		}
	}
	return -1
}

// hit is someFits for a numbered set. It first tries the offer that held the last
// pod of the set, which usually holds the next one.
func (a *attempt) hit(req *vec.Vector, id int32, set vec.Bits) bool {
	for int(id) >= len(a.hits) {
		a.hits = append(a.hits, 0)
	}
	if o := a.hits[id] - 1; o >= 0 && vec.Fits(req, &a.p.supply.Shapes[a.p.supply.Offers[o].Shape].Capacity, a.p.supply.Dims.N()) {
		return true
	}
	o := a.p.someFit(req, set)
	a.hits[id] = o + 1
	return o >= 0
}

// someFits reports whether an offer of the set can hold one pod.
func (p *problem) someFits(req *vec.Vector, set vec.Bits) bool { return p.someFit(req, set) >= 0 }

// someFit returns the first offer of the set that can hold one pod, -1 for none.
func (p *problem) someFit(req *vec.Vector, set vec.Bits) int32 {
	last := int32(-1)
	for w, x := range set {
		for ; x != 0; x &= x - 1 {
			o := int32(w*64 + bits.TrailingZeros64(x))
			shape := p.supply.Offers[o].Shape
			if shape != last && vec.Fits(req, &p.supply.Shapes[shape].Capacity, p.supply.Dims.N()) {
				return o
			}
			last = shape
		}
	}
	return -1
}

// sortItems orders items by contents, larger first, so that the result does not
// depend on the order in which they were found, and numbers their requests.
func (a *attempt) sortItems(items []item, sets []vec.Bits) {
	slices.SortStableFunc(items, func(x, y item) int {
		if o := y.request.Compare(&x.request); o != 0 {
			return o
		}
		if x.set != y.set {
			if o := slices.Compare(sets[x.set], sets[y.set]); o != 0 {
				return o
			}
		}
		if x.conflict != y.conflict {
			return cmp.Compare(a.p.conflicts.Text(x.conflict), a.p.conflicts.Text(y.conflict))
		}
		return 0
	})
	for i := range items {
		if items[i].requestID = 0; i > 0 {
			if items[i].requestID = items[i-1].requestID; items[i].request != items[i-1].request {
				items[i].requestID++
			}
		}
	}
}

// mergeItems joins items whose requests agree in their leading binary digits. It
// uses as many digits as the limit on items allows. A joined item requests the
// maximum of its pods, so that any of them fit.
func (a *attempt) mergeItems(items []item, sets []vec.Bits) []item {
	digits := 5
	if len(items) > 10*maxMergedItems {
		digits = 3
	}
	joined := a.mergeByDigits(items, sets, digits)
	for ; digits > 0 && len(joined) > maxMergedItems; digits-- {
		joined = a.mergeByDigits(items, sets, digits-1)
	}
	return joined
}

// useMeans makes joined items request the mean of their pods. That packs well, but a
// few pods are left over when pods are assigned to nodes.
func (a *attempt) useMeans(items []item) {
	for i := range items {
		var sum vec.Vector
		for _, part := range items[i].members {
			sum.Add(&a.p.classes[part.class].req, int64(part.n))
		}
		n := int64(items[i].n)
		for d := range sum {
			items[i].request[d] = (sum[d] + n - 1) / n
		}
	}
}

func (a *attempt) mergeByDigits(items []item, sets []vec.Bits, digits int) []item {
	var out []item
	ids := map[itemKey]int32{}
	for i := range items {
		r := &items[i]
		k := itemKey{set: r.set, conflict: r.conflict}
		for d, v := range r.request {
			k.request[d] = leading(v, digits)
		}
		j, ok := ids[k]
		if ok {
			req := out[j].request
			req.Raise(&r.request)
			// The maximum of all members must still fit somewhere.
			if ok = a.p.someFits(&req, sets[r.set]); ok {
				out[j].request = req
			}
		}
		if !ok {
			j = int32(len(out))
			ids[k] = j
			out = append(out, item{request: r.request, set: r.set, conflict: r.conflict})
		}
		out[j].n += r.n
		out[j].members = append(out[j].members, r.members...)
	}
	return out
}

// leading keeps the highest digits+1 binary digits of v and clears the others.
func leading(v int64, digits int) int64 {
	if v <= 0 {
		return 0
	}
	drop := max(0, bits.Len64(uint64(v))-1-digits)
	return v >> drop << drop
}
