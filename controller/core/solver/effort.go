package solver

// effortMeter counts what all plans of a solve take together. A plan is made again with fewer
// preferences, with bundles and in other orders; once what is allowed is spent, no more
// of these are begun than have to be. Moves are counted, never time, so that the same
// snapshot stops at the same place everywhere.
type effortMeter struct {
	moves, most int
	// looks are those at single places by pods that are placed in turn.
	looks int
}

const (
	// movesPerThousandPods is how many moves a solve of up to 1,000 pods may have made when another
	// plan is begun. A move takes about as long as a pivot of a program.
	movesPerThousandPods = 50_000
	// binTypesInMove is how many kinds of node are looked at for an item in the time of a
	// move, pairsInMove how many hosts, or how many other classes, for a class.
	binTypesInMove, pairsInMove = 64, 128
	// triedInMove is how many planned nodes are looked at whether they could be larger.
	triedInMove = 16
	// A way of placing pods in turn looks at no more than maxLooks places before it stops
	// to try those left out before again and again; once all ways have looked at
	// maxTotalLooks, no more pods are insisted on.
	maxLooks, maxTotalLooks = 1_000_000, 8_000_000
)

func newEffortMeter(pods int) *effortMeter {
	return &effortMeter{most: movesPerThousandPods * max(1, pods/1000)}
}

// exhausted says whether no more plans are to be begun than have to be.
func (m *effortMeter) exhausted() bool { return m != nil && m.moves >= m.most }

// insertionExhausted says the same of placing in turn those who were left out.
func (m *effortMeter) insertionExhausted() bool { return m != nil && m.looks >= maxTotalLooks }

// plan counts that so many classes are offered to so many hosts, and to each other.
func (m *effortMeter) plan(classes, hosts int) { m.add(classes * (classes + hosts) / pairsInMove) }

// pack counts that items were packed on bin types, with so many pivots.
func (m *effortMeter) pack(items, binTypes, pivots int) {
	m.add(items*binTypes/binTypesInMove + pivots)
}

// tried counts that so many nodes were looked at that could be larger ones.
func (m *effortMeter) tried(nodes int) { m.add(nodes / triedInMove) }

func (m *effortMeter) add(n int) {
	if m != nil { // the bound counts nothing
		m.moves += n
	}
}

func (m *effortMeter) look(n int) {
	if m != nil {
		m.looks += n
	}
}
