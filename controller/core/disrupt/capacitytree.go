package disrupt

// capacityTree is a segment tree over the free resources of some nodes, in the order
// in which they are tried. Each inner vertex stores, per resource, the largest free
// amount below it, and the largest free share. A node with room is found without a
// scan.
type capacityTree struct {
	// nodes are the leaves. half is the number of leaf positions, a power of two.
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

// close marks a leaf so that no request fits it.
func (t *capacityTree) close(leaf int) {
	v := t.half + leaf
	t.share[v] = -1
	for d := range t.room(v) {
		t.room(v)[d] = -1
	}
}

// set stores the values of a leaf. The caller must then call updateAbove or build.
func (t *capacityTree) set(leaf int, free []int64, share float64) {
	room := t.room(t.half + leaf)
	for d := range room {
		room[d] = max(0, free[d]) // a resource without requests may be negative
	}
	t.share[t.half+leaf] = share
}

// updateAbove recomputes the vertices above a leaf.
func (t *capacityTree) updateAbove(leaf int) {
	for v := (t.half + leaf) / 2; v > 0; v /= 2 {
		t.updateVertex(v)
	}
}

// build recomputes all inner vertices.
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

// first returns the first leaf with room for want; -1 for none.
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

// emptiest returns the leaf with room for want that has the largest free share, if
// that share exceeds above; -1 for none. Of equal leaves it returns the first.
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
