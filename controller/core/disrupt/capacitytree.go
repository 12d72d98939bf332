package disrupt

// capacityTree keeps the free room of some nodes, in the order in which they are to be
// tried, so that a node with room is found without looking at all of them: its
// inner vertices know the most room, resource by resource, and the largest free
// share of any node below.
type capacityTree struct {
	// nodes are the leaves; half is how many there could be, a power of two.
	nodes   []int32
	half    int
	dims    int
	maxFree []int64
	share   []float64
}

func newCapacityTree(nodes []int32, dims int) *capacityTree {
	t := &capacityTree{nodes: nodes, half: 1, dims: dims}
	for t.half < len(nodes) {
		t.half *= 2
	}
	t.maxFree, t.share = make([]int64, 2*t.half*dims), make([]float64, 2*t.half)
	for leaf := range t.half {
		t.close(leaf)
	}
	return t
}

func (t *capacityTree) room(v int) []int64 { return t.maxFree[v*t.dims : (v+1)*t.dims] }

// close makes a leaf one that nothing fits.
func (t *capacityTree) close(leaf int) {
	v := t.half + leaf
	t.share[v] = -1
	for d := range t.room(v) {
		t.room(v)[d] = -1
	}
}

// set writes a leaf; what is above it waits for settle or build.
func (t *capacityTree) set(leaf int, free []int64, share float64) {
	room := t.room(t.half + leaf)
	for d := range room {
		room[d] = max(0, free[d]) // what nobody asks for may be overdrawn
	}
	t.share[t.half+leaf] = share
}

// updateAbove corrects what is above a leaf.
func (t *capacityTree) updateAbove(leaf int) {
	for v := (t.half + leaf) / 2; v > 0; v /= 2 {
		t.updateVertex(v)
	}
}

// build corrects everything above the leaves.
func (t *capacityTree) build() {
	for v := t.half - 1; v > 0; v-- {
		t.updateVertex(v)
	}
}

func (t *capacityTree) updateVertex(v int) {
	room, a, b := t.room(v), t.room(2*v), t.room(2*v+1)
	for d := range room {
		room[d] = max(a[d], b[d])
	}
	t.share[v] = max(t.share[2*v], t.share[2*v+1])
}

// first is the first leaf in order that has the room; -1 for none.
func (t *capacityTree) first(want []int64) int { return t.descend(1, want) }

func (t *capacityTree) descend(v int, want []int64) int {
	switch {
	case t.share[v] < 0 || !holds(t.room(v), want):
		return -1
	case v >= t.half:
		return v - t.half
	}
	if at := t.descend(2*v, want); at >= 0 {
		return at
	}
	return t.descend(2*v+1, want)
}

// emptiest is the leaf of the largest free share that has the room, if that
// share is above the given one; -1 for none. The first in order wins ties.
func (t *capacityTree) emptiest(want []int64, above float64) (leaf int, share float64) {
	leaf, share = -1, above
	t.findLeastAllocated(1, want, &leaf, &share)
	return leaf, share
}

func (t *capacityTree) findLeastAllocated(v int, want []int64, leaf *int, share *float64) {
	if t.share[v] <= *share || !holds(t.room(v), want) {
		return
	}
	if v >= t.half {
		*leaf, *share = v-t.half, t.share[v]
		return
	}
	a, b := 2*v, 2*v+1
	if t.share[b] > t.share[a] {
		a, b = b, a
	}
	t.findLeastAllocated(a, want, leaf, share)
	t.findLeastAllocated(b, want, leaf, share)
}

func holds(room, request []int64) bool {
	for d, n := range request {
		if n > room[d] {
			return false
		}
	}
	return true
}
