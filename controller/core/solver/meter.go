package solver

// meter counts what all plans of a solve take together. A plan is made again with fewer
// preferences, with bundles and in other orders; once what is allowed is spent, no more
// of these are begun than have to be. Moves are counted, never time, so that the same
// snapshot stops at the same place everywhere.
type meter struct {
	moves, most int
	// looks are those at single places by pods that are placed in turn.
	looks int
}

const (
	// allowance is how many moves a solve of up to 1,000 pods may have made when another
	// plan is begun. A move takes about as long as a pivot of a program.
	allowance = 50_000
	// cellsInMove is how many kinds of node are looked at for a row in the time of a
	// move, pairsInMove how many hosts, or how many other classes, for a class.
	cellsInMove, pairsInMove = 64, 128
	// triedInMove is how many planned nodes are looked at whether they could be larger.
	triedInMove = 16
	// A way of placing pods in turn looks at no more than maxLooks places before it stops
	// to try those left out before again and again; once all ways have looked at
	// allLooks, no more pods are insisted on.
	maxLooks, allLooks = 1_000_000, 8_000_000
)

func newMeter(pods int) *meter { return &meter{most: allowance * max(1, pods/1000)} }

// spent says whether no more plans are to be begun than have to be.
func (m *meter) spent() bool { return m != nil && m.moves >= m.most }

// weary says the same of placing in turn those who were left out.
func (m *meter) weary() bool { return m != nil && m.looks >= allLooks }

// plan counts that so many classes are offered to so many hosts, and to each other.
func (m *meter) plan(classes, hosts int) { m.add(classes * (classes + hosts) / pairsInMove) }

// pack counts that rows were packed on sites, with so many pivots.
func (m *meter) pack(rows, sites, pivots int) { m.add(rows*sites/cellsInMove + pivots) }

// tried counts that so many nodes were looked at that could be larger ones.
func (m *meter) tried(nodes int) { m.add(nodes / triedInMove) }

func (m *meter) add(n int) {
	if m != nil { // the bound counts nothing
		m.moves += n
	}
}

func (m *meter) look(n int) {
	if m != nil {
		m.looks += n
	}
}
