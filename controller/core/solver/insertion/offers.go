package insertion

import (
	"spokeshave.dev/controller/core/solver/problem"
	"spokeshave.dev/controller/core/solver/vec"
)

// usableOffers remembers by choice and partition which offers of the partition the choice
// allows: indexes in offerPartition.byCost. A partition has few offers and a problem many,
// so that what a node may still be launched as is found a word of offers at a time.
type usableOffers struct {
	p          *problem.Problem
	partitions []offerPartition
	// sets is by choice and partition, nil where it is not known.
	sets [][]vec.Bits
}

func newUsableOffers(p *problem.Problem, partitions []offerPartition) *usableOffers {
	return &usableOffers{p: p, partitions: partitions, sets: make([][]vec.Bits, len(p.Choices.All))}
}

// of returns the set for a choice and a partition, which nobody changes.
func (t *usableOffers) of(choice int32, partition int) vec.Bits {
	if t.sets[choice] == nil {
		t.sets[choice] = make([]vec.Bits, len(t.partitions))
	}
	set := &t.sets[choice][partition]
	if *set == nil {
		allowed, list := t.p.Choices.All[choice], t.partitions[partition].byCost
		*set = vec.NewBits(len(list))
		for i, o := range list {
			if allowed.Has(o) {
				set.Set(int32(i))
			}
		}
	}
	return *set
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
		set := t.usable.of(cl.Choice, partition)
		i := set.Next(0)
		for i >= 0 && !vec.Fits(&cl.Requests, t.p.Capacity(list[i]), t.p.Supply.Dims.N()) {
			i = set.Next(i + 1)
		}
		*at = i + 2
	}
	return *at - 2
}
