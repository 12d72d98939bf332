package problem

import (
	"cmp"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// Item is a number of pods that are interchangeable for packing: they have equal
// requests, equal sets of offers, and exclude the same pods from their node.
type Item struct {
	Request   vec.Vector
	requestID int32 // numbers different requests
	Set       int32 // index into Items.Sets
	Conflict  int32 // as in Class
	N         int32 // number of pods
	Members   []ClassCount
}

// Items are pods that are packed together.
type Items struct {
	List []Item // sorted by SortItems
	Sets []vec.Bits
	// Merged is set when an item joins pods with different requests.
	Merged bool
}

type itemKey struct {
	request       vec.Vector
	set, conflict int32
}

// itemizer makes items of the pods of a problem.
type itemizer struct {
	p *Problem
	// allowed are the offers that may be launched now.
	allowed vec.Bits
	// sets are those of the items so far. chosen caches chooseSet, by the class's
	// offers and the weight rank.
	sets   vec.Sets
	chosen map[[2]int32]int32
	// hits is by set of offers the offer that held the last pod, plus 1; 0 for none.
	hits []int32
}

// Items makes items of the pods that are left, by class, and have at least the
// lowest priority. It leaves out classes for which nothing of the allowed offers can
// be launched. merged says what items that join different requests request.
func (p *Problem) Items(left []int32, lowest int32, allowed vec.Bits, merged MergedRequest) Items {
	z := itemizer{p: p, allowed: allowed, chosen: map[[2]int32]int32{}}
	list := make([]Item, 0, min(len(p.Classes), 256))
	ids := make(map[itemKey]int32, cap(list))
	for c := range p.Classes {
		cl := &p.Classes[c]
		if left[c] == 0 || cl.Priority < lowest || len(cl.Reasons) > 0 {
			continue
		}
		set := z.chooseSet(cl)
		if set < 0 {
			continue
		}
		key := itemKey{cl.Requests, set, cl.Conflict}
		i, ok := ids[key]
		if !ok {
			i = int32(len(list))
			ids[key] = i
			list = append(list, Item{Request: cl.Requests, Set: set, Conflict: cl.Conflict})
		}
		list[i].N += left[c]
		list[i].Members = append(list[i].Members, ClassCount{int32(c), left[c]})
	}
	out := Items{List: list, Sets: z.sets.All}
	p.SortItems(&out)
	p.constrainedFirst(list)
	if out.Merged = countRequests(list) > maxRequests; out.Merged {
		if out.List = z.mergeItems(list); merged == MeanRequest {
			p.useMeans(out.List)
		}
		p.SortItems(&out)
	}
	return out
}

// constrainedFirst puts the pods with rules for their node before those without, so
// that they are placed while there are many nodes to choose from.
func (p *Problem) constrainedFirst(items []Item) {
	if len(p.Topology.All) == 0 {
		return
	}
	rank := func(t ClassCount) int {
		switch terms := p.Classes[t.Class].Terms; {
		case terms == nil:
			return 2
		case len(terms.HostRules) > 0:
			return 0
		}
		return 1
	}
	for i := range items {
		slices.SortStableFunc(items[i].Members, func(x, y ClassCount) int { return cmp.Compare(rank(x), rank(y)) })
	}
}

// chooseSet returns the set of offers for the class: the offers of the heaviest pools
// in which one fits; -1 when none does.
func (z *itemizer) chooseSet(cl *Class) int32 {
	for level := range z.p.Supply.WeightRanks {
		k := [2]int32{cl.Choice, level}
		id, ok := z.chosen[k]
		if !ok {
			set := z.p.OffersOf(cl).Clone()
			set.And(z.allowed)
			for l := range z.p.Supply.Templates {
				if tm := &z.p.Supply.Templates[l]; tm.WeightRank != level {
					set.UnsetRange(tm.From, tm.To)
				}
			}
			if z.p.Supply.DropTooLarge(set); set.Empty() {
				id = -1
			} else {
				id = z.sets.ID(set)
			}
			z.chosen[k] = id
		}
		if id >= 0 && z.hit(&cl.Requests, id) {
			return id
		}
	}
	return -1
}

// hit is SomeFits for a numbered set. It first tries the offer that held the last
// pod of the set, which usually holds the next one.
func (z *itemizer) hit(req *vec.Vector, id int32) bool {
	for int(id) >= len(z.hits) {
		z.hits = append(z.hits, 0)
	}
	if o := z.hits[id] - 1; o >= 0 && vec.Fits(req, z.p.Capacity(o), z.p.Supply.Dims.N()) {
		return true
	}
	o := z.p.someFit(req, z.sets.All[id])
	z.hits[id] = o + 1
	return o >= 0
}

// SortItems orders items by contents, larger first, so that the result does not
// depend on the order in which they were found, and numbers their requests.
func (p *Problem) SortItems(of *Items) {
	items := of.List
	slices.SortStableFunc(items, func(x, y Item) int {
		if o := y.Request.Compare(&x.Request); o != 0 {
			return o
		}
		if x.Set != y.Set {
			if o := slices.Compare(of.Sets[x.Set], of.Sets[y.Set]); o != 0 {
				return o
			}
		}
		if x.Conflict != y.Conflict {
			return cmp.Compare(p.Conflicts.Text(x.Conflict), p.Conflicts.Text(y.Conflict))
		}
		return 0
	})
	for i := range items {
		if items[i].requestID = 0; i > 0 {
			if items[i].requestID = items[i-1].requestID; items[i].Request != items[i-1].Request {
				items[i].requestID++
			}
		}
	}
}
