package solver

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// item is a number of pods that are interchangeable for packing: they have equal
// requests, equal sets of offers, and exclude the same pods from their node.
type item struct {
	request   vec.Vector
	requestID int32 // numbers different requests
	set       int32 // index into items.sets
	conflict  int32
	n         int32
	members   []classCount
}

// items are pods that are packed together.
type items struct {
	list []item // sorted by sortItems
	sets []vec.Bits
	// merged is set when an item joins pods with different requests.
	merged bool
}

type itemKey struct {
	request       vec.Vector
	set, conflict int32
}

// itemizer makes items of the pods of a problem.
type itemizer struct {
	p *problem
	// allowed are the offers that may be launched now.
	allowed vec.Bits
	// sets are those of the items so far. chosen caches chooseSet, by the class's
	// offers and the weight rank.
	sets   vec.Sets
	chosen map[[2]int32]int32
	// hits is by set of offers the offer that held the last pod, plus 1; 0 for none.
	hits []int32
}

// newItems makes items of the pods that are left, by class, and have at least the
// lowest priority. It leaves out classes for which nothing of the allowed offers can
// be launched. With means, an item that joins pods with different requests requests
// their mean; otherwise it requests their maximum.
func (p *problem) newItems(left []int32, lowest int32, allowed vec.Bits, means bool) items {
	z := itemizer{p: p, allowed: allowed, chosen: map[[2]int32]int32{}}
	list := make([]item, 0, min(len(p.classes), 256))
	ids := make(map[itemKey]int32, cap(list))
	for c := range p.classes {
		cl := &p.classes[c]
		if left[c] == 0 || cl.priority < lowest || len(cl.reasons) > 0 {
			continue
		}
		set := z.chooseSet(cl)
		if set < 0 {
			continue
		}
		key := itemKey{cl.req, set, cl.conflict}
		i, ok := ids[key]
		if !ok {
			i = int32(len(list))
			ids[key] = i
			list = append(list, item{request: cl.req, set: set, conflict: cl.conflict})
		}
		list[i].n += left[c]
		list[i].members = append(list[i].members, classCount{int32(c), left[c]})
	}
	out := items{list: list, sets: z.sets.All}
	p.sortItems(&out)
	p.constrainedFirst(list)
	if out.merged = countRequests(list) > maxRequests; out.merged {
		if out.list = z.mergeItems(list); means {
			p.useMeans(out.list)
		}
		p.sortItems(&out)
	}
	return out
}

// constrainedFirst puts the pods with rules for their node before those without, so
// that they are placed while there are many nodes to choose from.
func (p *problem) constrainedFirst(items []item) {
	if len(p.topology.All) == 0 {
		return
	}
	rank := func(t classCount) int {
		switch terms := p.classes[t.class].terms; {
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

// chooseSet returns the set of offers for the class: the offers of the heaviest pools
// in which one fits; -1 when none does.
func (z *itemizer) chooseSet(cl *class) int32 {
	for level := range z.p.supply.WeightRanks {
		k := [2]int32{cl.offers, level}
		id, ok := z.chosen[k]
		if !ok {
			set := z.p.offersOf(cl).Clone()
			set.And(z.allowed)
			for l := range z.p.supply.Templates {
				if tm := &z.p.supply.Templates[l]; tm.WeightRank != level {
					set.UnsetRange(tm.From, tm.To)
				}
			}
			if z.p.supply.DropTooLarge(set); set.Empty() {
				id = -1
			} else {
				id = z.sets.ID(set)
			}
			z.chosen[k] = id
		}
		if id >= 0 && z.hit(&cl.req, id) {
			return id
		}
	}
	return -1
}

// hit is someFits for a numbered set. It first tries the offer that held the last
// pod of the set, which usually holds the next one.
func (z *itemizer) hit(req *vec.Vector, id int32) bool {
	for int(id) >= len(z.hits) {
		z.hits = append(z.hits, 0)
	}
	if o := z.hits[id] - 1; o >= 0 && vec.Fits(req, z.p.capacity(o), z.p.supply.Dims.N()) {
		return true
	}
	o := z.p.someFit(req, z.sets.All[id])
	z.hits[id] = o + 1
	return o >= 0
}

// sortItems orders items by contents, larger first, so that the result does not
// depend on the order in which they were found, and numbers their requests.
func (p *problem) sortItems(of *items) {
	items := of.list
	slices.SortStableFunc(items, func(x, y item) int {
		if o := y.request.Compare(&x.request); o != 0 {
			return o
		}
		if x.set != y.set {
			if o := slices.Compare(of.sets[x.set], of.sets[y.set]); o != 0 {
				return o
			}
		}
		if x.conflict != y.conflict {
			return cmp.Compare(p.conflicts.Text(x.conflict), p.conflicts.Text(y.conflict))
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
