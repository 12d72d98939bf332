// Package effort bounds how much work one solve does. Solve plans the same pods
// in several ways; a Budget adds up what all of them take, and says when no
// more ways are to be begun than have to be.
//
// Work is counted and never timed, so that the same snapshot stops at the same
// place on every machine. The unit is the move: what one pivot of a linear
// program takes.
//
// Not here: the bound on the improvement of a single packing (Input.Effort),
// and which ways are tried (the list of strategies in package solver).
package effort

// Work counts what was done. It is used by one goroutine at a time: trials that run at the
// same time have one each, and are added up when they are done.
type Work struct {
	moves int
	// looks counts the places that pods looked at while they were placed one by one.
	looks int
}

// Moves is the work done so far, in moves. What Look counts is not part of it.
func (w *Work) Moves() int { return w.moves }

// Total is all of the work done so far, in moves: that of Moves and that of Looks.
func (w *Work) Total() int { return w.moves + w.looks/LooksInMove }

// Looks is how many places were looked at, as counted by Look.
func (w *Work) Looks() int { return w.looks }

// Add adds what another one counted.
func (w *Work) Add(other *Work) {
	w.moves += other.moves
	w.looks += other.looks
}

// Lower charges for a plan that is begun: so many classes of pods are compared
// with so many existing nodes, and with each other.
func (w *Work) Lower(classes, hosts int) { w.moves += classes * (classes + hosts) / pairsInMove }

// Pack charges for a packing of so many items into bin types, with so many pivots.
func (w *Work) Pack(items, binTypes, pivots int) { w.moves += items*binTypes/fillsInMove + pivots }

// Enlarge charges for so many planned nodes that were looked at whether they could
// be of a larger type.
func (w *Work) Enlarge(nodes int) { w.moves += nodes / EnlargedInMove }

// Look charges for so many places looked at by pods that are placed one by one.
func (w *Work) Look(places int) { w.looks += places }

// Budget is the work that one solve may do, and what it has done.
type Budget struct {
	Work
	limit int
	// allLooks bounds looks.
	allLooks int
}

// New is the budget of a solve of so many pods.
func New(pods int) *Budget {
	return &Budget{limit: Allowance * max(1, pods/1000), allLooks: AllLooks}
}

// LimitLooks replaces AllLooks, so that a small input is treated as a large one.
func (b *Budget) LimitLooks(most int) { b.allLooks = most }

// Spent says that no more plans are to be begun than have to be.
func (b *Budget) Spent() bool { return b.moves >= b.limit }

// AllSpent is Spent for plans that only make a result better that stands: looks count, too.
func (b *Budget) AllSpent() bool { return b.Total() >= b.limit }

// LooksSpent says that pods are not to be placed one by one again.
func (b *Budget) LooksSpent() bool { return b.looks >= b.allLooks }

// LooksLeft is how many more places may be looked at.
func (b *Budget) LooksLeft() int { return max(0, b.allLooks-b.looks) }

// Exceeds says that so many places are more than a whole solve may look at.
func (b *Budget) Exceeds(places int) bool { return places > b.allLooks }

// Affords says that so many more places may be looked at.
func (b *Budget) Affords(places int) bool { return b.looks+places <= b.allLooks }
