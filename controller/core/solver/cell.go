package solver

import (
	"maps"
	"slices"
)

// maxCells is up to how many kinds of place for a new node pods are placed in
// turn.
const maxCells = 512

// spot is where a pod may go, as the constraints between pods see it.
type spot struct {
	// at is the domain by key, -1 for none; counts says by census whether it
	// counts what runs there.
	at     []int32
	counts []bool
}

// cell is a set of offers whose nodes no constraint between pods tells apart.
type cell struct {
	spot
	set  bitset
	lane int32
	// offers are those of the set, the cheapest first.
	offers []int32
}

// newSpots describes the hosts.
func (t *turns) newSpots() {
	t.spots = make([]spot, len(t.hosts))
	for i := range t.hosts {
		h := &t.hosts[i]
		t.spots[i] = spot{at: h.at, counts: make([]bool, len(t.keys))}
		for g := range t.keys {
			t.spots[i].counts[g] = t.topo.censuses[g].lets(h)
		}
	}
}

// newCells parts the offers of every lane by domain, and by who counts them.
// It reports false when that makes too many cells.
func (t *turns) newCells() bool {
	for l := range t.lanes {
		set := newBitset(len(t.offers))
		set.setRange(t.lanes[l].from, t.lanes[l].to)
		if t.varied(set); !set.empty() {
			s := spot{at: make([]int32, len(t.domains)), counts: make([]bool, len(t.keys))}
			t.cells = append(t.cells, cell{spot: s, set: set, lane: int32(l)})
		}
	}
	for k := range t.domains {
		for i := range t.cells {
			t.cells[i].at[k] = -1
		}
		for v, set := range t.domains[k].sets {
			t.part(set, func(x *spot) { x.at[k] = int32(v) })
		}
		if len(t.cells) > maxCells {
			return false
		}
	}
	t.partByCensus()
	if t.plainly {
		t.partBySlot()
	}
	for i := range t.cells {
		x := &t.cells[i]
		for _, o := range t.lanes[x.lane].byCost {
			if x.set.has(o) {
				x.offers = append(x.offers, o)
			}
		}
	}
	return len(t.cells) <= maxCells
}

// partByCensus tells cells apart by who counts what runs there.
func (t *turns) partByCensus() {
	for g, set := range t.l.pass {
		if set != nil {
			t.part(set, func(x *spot) { x.counts[g] = true })
			continue
		}
		for i := range t.cells {
			t.cells[i].counts[g] = true
		}
	}
}

// partBySlot parts cells by zone and capacity type.
func (t *turns) partBySlot() {
	sets := map[[2]string]bitset{}
	for o := range t.offers {
		s := &t.slots.slots[t.offers[o].slot]
		at := [2]string{s.zone, s.capacityType}
		if sets[at] == nil {
			sets[at] = newBitset(len(t.offers))
		}
		sets[at].set(int32(o))
	}
	for _, at := range slices.SortedFunc(maps.Keys(sets), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		t.part(sets[at], func(*spot) {})
	}
}

// part splits the cells that are partly in the set, and marks what is in it.
func (t *turns) part(set bitset, mark func(*spot)) {
	for i := range len(t.cells) {
		x := &t.cells[i]
		if !x.set.meets(set) {
			continue
		}
		if !set.contains(x.set) {
			out := cell{spot: spot{at: slices.Clone(x.at), counts: slices.Clone(x.counts)}, set: x.set.clone(), lane: x.lane}
			for w := range out.set {
				out.set[w] &^= set[w]
			}
			x.set = x.set.clone()
			x.set.and(set)
			mark(&x.spot)
			t.cells = append(t.cells, out)
			continue
		}
		mark(&x.spot)
	}
}
