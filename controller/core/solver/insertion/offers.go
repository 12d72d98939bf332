package insertion

import (
	"slices"
	"sync/atomic"

	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/supply"
	"spokeshave.dev/controller/core/solver/vec"
)

// offerSet is a set of offers of a partition: indexes in offerPartition.byCost. It is safe for concurrent
// use.
type offerSet struct {
	vec.Bits

	// undominated are those that hold more of something than every cheaper one of the set: the cheapest one
	// with room for a demand is one of them. It is nil until the set was asked for often.
	undominated atomic.Pointer[vec.Bits]
	asked       atomic.Int32
}

// oftenAsked is how many times a set is asked for the cheapest offer with room before it is worth finding those
// that are not dominated.
const oftenAsked = 64

// usableOffers remembers by choice and partition which offers of the partition the choice
// allows. A partition has few offers and a problem many, so that what a node may still be launched as is
// found a word of offers at a time. It is safe for concurrent use.
type usableOffers struct {
	supply     *supply.Table
	choices    []vec.Bits
	partitions []offerPartition
	// sets is by choice and partition, nil where it is not known. whole is by partition the set of all its
	// offers, which choices that allow them all share.
	sets  [][]atomic.Pointer[offerSet]
	whole []*offerSet
}

func newUsableOffers(p *problem.Problem, partitions []offerPartition) *usableOffers {
	t := &usableOffers{supply: p.Supply, choices: p.Choices.All, partitions: partitions, sets: make([][]atomic.Pointer[offerSet], len(p.Choices.All))}
	for i := range t.sets {
		t.sets[i] = make([]atomic.Pointer[offerSet], len(partitions))
	}
	for i := range partitions {
		n := len(partitions[i].byCost)
		all := &offerSet{Bits: vec.NewBits(n)}
		all.SetRange(0, int32(n))
		t.whole = append(t.whole, all)
	}
	return t
}

// of returns the set for a choice and a partition, always the same one, which nobody changes.
func (t *usableOffers) of(choice int32, partition int) *offerSet {
	at := &t.sets[choice][partition]
	if set := at.Load(); set != nil {
		return set
	}
	at.CompareAndSwap(nil, t.find(t.choices[choice], partition))
	return at.Load()
}

// find makes the set of the offers of a partition that are allowed.
func (t *usableOffers) find(allowed vec.Bits, partition int) *offerSet {
	x := &t.partitions[partition]
	if allowed.Contains(x.offers) {
		return t.whole[partition]
	}
	set := &offerSet{Bits: vec.NewBits(len(x.byCost))}
	if allowed.Intersects(x.offers) {
		for i, o := range x.byCost {
			if allowed.Has(o) {
				set.Set(int32(i))
			}
		}
	}
	return set
}

// candidates returns offers of a set of a partition among which the cheapest one with room for any demand is:
// all of them, or once the set was asked for often those that are not dominated.
func (t *usableOffers) candidates(set *offerSet, partition int) vec.Bits {
	if list := set.undominated.Load(); list != nil {
		return *list
	}
	if set.asked.Add(1) < oftenAsked {
		return set.Bits
	}
	list, n := t.partitions[partition].byCost, t.supply.Dims.N()
	undominated := vec.NewBits(len(list))
	var kept []*vec.Vector
	for i := set.Next(0); i >= 0; i = set.Next(i + 1) {
		room := t.capacity(list[i])
		if !slices.ContainsFunc(kept, func(cheaper *vec.Vector) bool { return vec.Fits(room, cheaper, n) }) {
			kept = append(kept, room)
			undominated.Set(i)
		}
	}
	set.undominated.Store(&undominated)
	return undominated
}

// capacity returns what a node of an offer has room for.
func (t *usableOffers) capacity(offer int32) *vec.Vector {
	return &t.supply.Shapes[t.supply.Offers[offer].Shape].Capacity
}

// firstOffers remembers by shape of pod and partition the cheapest offer of a new node
// for one pod, as far as bounds do not matter. It is safe for concurrent use.
type firstOffers struct {
	usable *usableOffers
	// shapeOf is by class the number of its shape. first is by shape and partition the index in
	// offerPartition.byCost plus 2: 0 when it is not known, 1 when there is none.
	shapeOf []int32
	shapes  []podShape
	first   [][]atomic.Int32
}

// podShape is what the cheapest offer for one pod depends on.
type podShape struct {
	requests vec.Vector
	choice   int32
}

func newFirstOffers(p *problem.Problem, usable *usableOffers) *firstOffers {
	t := &firstOffers{usable: usable, shapeOf: make([]int32, len(p.Classes))}
	numbers := map[podShape]int32{}
	for c := range p.Classes {
		key := podShape{p.Classes[c].Requests, p.Classes[c].Choice}
		id, known := numbers[key]
		if !known {
			id = int32(len(numbers))
			numbers[key] = id
			t.shapes = append(t.shapes, key)
			t.first = append(t.first, make([]atomic.Int32, len(usable.partitions)))
		}
		t.shapeOf[c] = id
	}
	return t
}

// of returns the index in offerPartition.byCost of the partition's first offer that can
// hold a pod of class c; -1 when there is none.
func (t *firstOffers) of(c int32, partition int) int32 {
	s := t.shapeOf[c]
	at := &t.first[s][partition]
	if known := at.Load(); known != 0 {
		return known - 2
	}
	pod, list := &t.shapes[s], t.usable.partitions[partition].byCost
	set := t.usable.candidates(t.usable.of(pod.choice, partition), partition)
	i := set.Next(0)
	for i >= 0 && !vec.Fits(&pod.requests, t.usable.capacity(list[i]), t.usable.supply.Dims.N()) {
		i = set.Next(i + 1)
	}
	at.Store(i + 2)
	return i
}
