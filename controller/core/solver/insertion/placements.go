package insertion

import "math"

// Start says where a plan has a pod of a class: on a host, or on a new node.
type Start struct {
	Class int32
	// Host is the index of the host, -1 for a new node. Node is the number of the new node, and
	// Offer what it is launched as.
	Host, Node, Offer int32
}

// placements is a list of placements to make again.
type placements struct {
	steps []step
	// partitions are, by step, those of new nodes.
	partitions []int
	// at is, by the place of a step, the place now.
	at map[int32]int32
}

// fromStart returns the placements of a plan.
func (r *recreation) fromStart(start []Start) *placements {
	partitionOf := map[int32]int{} // by offer
	for i := range r.partitions {
		for _, o := range r.partitions[i].byCost {
			partitionOf[o] = i
		}
	}
	x := &placements{at: map[int32]int32{}}
	for i := range start {
		s := &start[i]
		place := s.Host
		if s.Host < 0 {
			place = int32(len(r.hosts)) + s.Node
		}
		x.steps, x.partitions = append(x.steps, step{s.Class, place}), append(x.partitions, partitionOf[s.Offer])
	}
	return x
}

// fromState returns the placements of a state.
func (r *recreation) fromState(s *state) *placements {
	x := &placements{steps: s.steps, partitions: make([]int, len(s.steps)), at: map[int32]int32{}}
	for i, st := range s.steps {
		if n := int(st.place) - len(r.hosts); n >= 0 {
			x.partitions[i] = s.nodes[n].partition
		}
	}
	return x
}

// repeat makes the placements that the constraints allow one after another, again as long as
// that lets others follow, and reports whether these are all.
func (r *recreation) repeat(x *placements) bool {
	for again := true; again && len(x.steps) > 0; {
		again = false
		var steps []step
		var partitions []int
		for i, s := range x.steps {
			if r.put(s, x.partitions[i], x.at) {
				again = true
				continue
			}
			steps, partitions = append(steps, s), append(partitions, x.partitions[i])
		}
		x.steps, x.partitions = steps, partitions
	}
	return len(x.steps) == 0
}

// put places a pod of a class where a step says, if the constraints allow that.
func (r *recreation) put(s step, partition int, at map[int32]int32) bool {
	if !r.hasWaiting(s.class) {
		return false
	}
	r.placesTried++
	if int(s.place) < len(r.hosts) {
		return r.putOnHost(s)
	}
	place, open := at[s.place]
	if !open {
		place = int32(len(r.hosts) + len(r.nodes))
	}
	cl := &r.p.Classes[s.class]
	if only := r.affinity.onlyPlace(cl); only != anyPlace && only != place {
		return false
	}
	if open && !r.joins(place, s.class) {
		return false
	}
	if !open {
		if !r.begins(partition, s.class) {
			return false
		}
		r.open(partition)
		at[s.place] = place
	}
	r.addToNode(int(place)-len(r.hosts), s.class)
	return true
}

// putOnHost is put for a host.
func (r *recreation) putOnHost(s step) bool {
	cl, x := &r.p.Classes[s.class], &r.hostPositions[s.place]
	w := affinityTarget{seed: r.affinity.mayBeFirst(cl)}
	only := r.affinity.onlyPlace(cl)
	if only != anyPlace && only != s.place || !r.verdicts.admits(r.verdicts.of(s.class, cl), cl, x) || !placeOnHost(r.p, &r.hosts[s.place], s.class, &w) {
		return false
	}
	r.recordPlaced(s.class, x, s.place)
	return true
}

// joins reports whether a pod of class c may join the new node at a place.
func (r *recreation) joins(place, c int32) bool {
	cl, n := &r.p.Classes[c], &r.nodes[int(place)-len(r.hosts)]
	return r.verdicts.admits(r.verdicts.of(c, cl), cl, n.topologyPosition) && r.offerFor(n, cl, &affinityTarget{}, math.Inf(1)) != none
}

// begins reports whether a pod of class c may be the first on a new node of a partition.
func (r *recreation) begins(partition int, c int32) bool {
	cl, x := &r.p.Classes[c], &r.partitions[partition]
	first := r.firstOffers.of(c, partition)
	if first < 0 || cl.NeedsOthersOnHost() > 0 && !r.affinity.mayBeFirst(cl) || !r.verdicts.admits(r.verdicts.of(c, cl), cl, &x.topologyPosition) {
		return false
	}
	usable, demand := r.usable.of(cl.Choice, partition).Bits, cl.Requests
	return r.affordable(x, first, usable, &affinityTarget{}, &demand) != none && r.keepsMinValues(x, usable, usable, &demand)
}
