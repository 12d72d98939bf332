package insertion

import (
	"slices"

	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// offerSet is a set of offers of a partition: indexes in offerPartition.byCost.
type offerSet struct {
	vec.Bits

	// undominated are those that hold more of something than every cheaper one of the set: the cheapest one
	// with room for a demand is one of them. It is nil until the set was asked for often.
	undominated vec.Bits
	asked       int
}

// oftenAsked is how many times a set is asked for the cheapest offer with room before it is worth finding those
// that are not dominated.
const oftenAsked = 64

// usableOffers remembers by choice and partition which offers of the partition the choice
// allows. A partition has few offers and a problem many, so that what a node may still be launched as is
// found a word of offers at a time.
type usableOffers struct {
	p          *problem.Problem
	partitions []offerPartition
	// sets is by choice and partition, nil where it is not known. whole is by partition the set of all its
	// offers, which choices that allow them all share.
	sets  [][]*offerSet
	whole []*offerSet
}

func newUsableOffers(p *problem.Problem, partitions []offerPartition) *usableOffers {
	return &usableOffers{p: p, partitions: partitions, sets: make([][]*offerSet, len(p.Choices.All)), whole: make([]*offerSet, len(partitions))}
}

// of returns the set for a choice and a partition, which nobody changes.
func (t *usableOffers) of(choice int32, partition int) *offerSet {
	if t.sets[choice] == nil {
		t.sets[choice] = make([]*offerSet, len(t.partitions))
	}
	set := &t.sets[choice][partition]
	if *set == nil {
		*set = t.find(t.p.Choices.All[choice], partition)
	}
	return *set
}

// find makes the set of the offers of a partition that are allowed.
func (t *usableOffers) find(allowed vec.Bits, partition int) *offerSet {
	x := &t.partitions[partition]
	set := &offerSet{Bits: vec.NewBits(len(x.byCost))}
	switch {
	case allowed.Contains(x.offers):
		if t.whole[partition] == nil {
			set.SetRange(0, int32(len(x.byCost)))
			t.whole[partition] = set
		}
		return t.whole[partition]
	case allowed.Intersects(x.offers):
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
	if set.undominated != nil {
		return set.undominated
	}
	if set.asked++; set.asked < oftenAsked {
		return set.Bits
	}
	list, n := t.partitions[partition].byCost, t.p.Supply.Dims.N()
	set.undominated = vec.NewBits(len(list))
	var kept []*vec.Vector
	for i := set.Next(0); i >= 0; i = set.Next(i + 1) {
		room := t.p.Capacity(list[i])
		if !slices.ContainsFunc(kept, func(cheaper *vec.Vector) bool { return vec.Fits(room, cheaper, n) }) {
			kept = append(kept, room)
			set.undominated.Set(i)
		}
	}
	return set.undominated
}

// firstOffers remembers by shape of pod and partition the cheapest offer of a new node
// for one pod, as far as bounds do not matter.
type firstOffers struct {
	p          *problem.Problem
	partitions []offerPartition
	usable     *usableOffers
	// shapes numbers the classes by requests and choice of offers. first is by shape and
	// partition the index in offerPartition.byCost plus 2: 0 when it is not known, 1 when
	// there is none.
	shapes []int32
	first  [][]int32
}

func newFirstOffers(p *problem.Problem, partitions []offerPartition, usable *usableOffers) *firstOffers {
	t := &firstOffers{p: p, partitions: partitions, usable: usable, shapes: make([]int32, len(p.Classes))}
	type shape struct {
		requests vec.Vector
		choice   int32
	}
	numbers := map[shape]int32{}
	for c := range p.Classes {
		key := shape{p.Classes[c].Requests, p.Classes[c].Choice}
		id, known := numbers[key]
		if !known {
			id = int32(len(numbers))
			numbers[key] = id
		}
		t.shapes[c] = id
	}
	t.first = make([][]int32, len(numbers))
	return t
}

// of returns the index in offerPartition.byCost of the partition's first offer that can
// hold a pod of class c; -1 when there is none.
func (t *firstOffers) of(c int32, partition int) int32 {
	s := t.shapes[c]
	if t.first[s] == nil {
		t.first[s] = make([]int32, len(t.partitions))
	}
	at := &t.first[s][partition]
	if *at == 0 {
		cl, list := &t.p.Classes[c], t.partitions[partition].byCost
		set := t.usable.candidates(t.usable.of(cl.Choice, partition), partition)
		i := set.Next(0)
		for i >= 0 && !vec.Fits(&cl.Requests, t.p.Capacity(list[i]), t.p.Supply.Dims.N()) {
			i = set.Next(i + 1)
		}
		*at = i + 2
	}
	return *at - 2
}
