package disrupt

import (
	"cmp"
	"slices"
)

// Effort bounds a search. In a small cluster one search covers every node, in a
// large one a few searches do.
type Effort struct {
	// Deletes and Replaces are the numbers of simulations for removals without
	// replacement and for replacements.
	Deletes, Replaces int
	// Sets is how many sets of nodes drawn at random are simulated besides, see randomSets.
	Sets int
	// Starts is how many replacements one search may start, each of one or several
	// nodes.
	Starts int
}

// DefaultEffort returns the bounds with which a search of 5,000 nodes takes seconds.
func DefaultEffort() Effort { return Effort{Deletes: 12, Replaces: 20, Sets: 60, Starts: 8} }

// Option is a node that consolidation may remove.
type Option struct {
	Node int32
	// Cost is its disruption cost, with the policies' additions.
	Cost float64
	// Wanted is set when pods wait for the money that the node costs. Such nodes are
	// tried first.
	Wanted bool

	price float64
	// gain is an upper estimate of what removing the node gains. worth is gain, or
	// price before gain is known, per unit of disruption cost.
	gain, worth float64
}

// Starter starts a proposal or returns the nodes that may not be removed. When it
// starts nothing, it returns at least one node.
type Starter func(*Proposal) (refused []int32)

// Search looks for nodes whose removal makes the cluster cheaper and starts the
// proposals that it finds. options are the nodes that may be removed, and left is by
// pool how many. It first looks for nodes that need no replacement, and whether
// removing more nodes at once with new ones saves more. Only if it starts none of
// these does it look for other replacements. A started proposal becomes part of the
// projection, and later ones must be valid with it. Search returns how many proposals it
// started.
//
// Every option is estimated. Most simulations go to the options with the highest
// estimate. The rest go to the others in turn, so that every option is tried at some
// time even if the estimates favour others.
func (sc *Projection) Search(options []Option, left []int, effort Effort, start Starter) int {
	open := options[:0:0]
	for _, o := range options {
		if sc.Recost != nil {
			costs, unknown := sc.costsWithout(o.Node)
			if unknown != "" {
				sc.record([]int32{o.Node}, Blocked, unknown)
				continue
			}
			sc.prices[o.Node] = sc.types.prices(&sc.snap.Nodes[o.Node], costs)
		}
		o.price = sc.prices[o.Node].effective
		o.worth = o.price / (1 + o.Cost)
		if sc.Settled(o.Node) && o.price > 0 {
			open = append(open, o)
		}
	}
	if len(open) == 0 {
		return 0
	}
	byWorth(open)
	return (&search{projection: sc, left: left, effort: effort, start: start}).run(open)
}

// search is one search for a cheaper cluster.
type search struct {
	projection *Projection
	// left is by pool how many nodes may be removed.
	left   []int
	effort Effort
	start  Starter
}

func (x *search) consolidator() *consolidator { return &consolidator{x.projection} }

// run makes the search among the open options, which are sorted by worth, and returns how
// many proposals it started.
func (x *search) run(open []Option) int {
	gone := x.findRemovals(open, x.effort.Deletes)
	if gone != nil && x.effort.Replaces > 0 {
		alone := &prospect{gain: gone.Gain(), score: gone.Score()} // it is one prospect without parts
		if f := choose(append(x.consolidate(x.lowestCostPrefixes(open, gone.Saves())), alone)); f != alone {
			if begun := x.beginReplacements([]*prospect{f}); begun > 0 {
				return begun
			}
		}
	}
	if x.beginRemoval(gone) {
		return 1
	}
	return x.beginReplacements(x.findReplacements(open, x.effort.Replaces))
}

// beginRemoval starts the removal of the nodes, or of those that are not refused. It judges them
// by other orders than those in which they were found.
func (x *search) beginRemoval(p *Proposal) bool {
	x.projection.redraw()
	if p != nil {
		if p.unplaced = nil; !x.consolidator().worksOut(p) {
			return false
		}
	}
	for range 2 {
		if p == nil {
			return false
		}
		refused := x.start(p)
		if len(refused) == 0 {
			return true
		}
		rest := slices.DeleteFunc(slices.Clone(p.Nodes), func(i int32) bool { return slices.Contains(refused, i) })
		if len(rest) == 0 {
			return false
		}
		if p = x.removal(rest); p != nil && !x.consolidator().worksOut(p) {
			return false
		}
	}
	return false
}

// beginReplacements starts the best of the prospects, and of the others those that
// are still valid with it. A prospect with several independent parts is started part
// by part, so that each succeeds or fails on its own. They are judged by other orders than
// those in which they were found.
func (x *search) beginReplacements(found []*prospect) int {
	x.projection.redraw()
	begun, starts, left := 0, x.effort.Starts, slices.Clone(x.left)
	var shares [][]int32
	for len(found)+len(shares) > 0 && begun < max(1, starts) {
		if len(shares) == 0 {
			f := choose(found)
			found = slices.DeleteFunc(found, func(x *prospect) bool { return x == f })
			shares = f.partsByGain(starts-begun, x.projection.Recost != nil)
			continue
		}
		p := x.consolidateBeside(shares[0], left)
		if shares = shares[1:]; p == nil {
			continue
		}
		if len(x.start(p)) > 0 {
			continue
		}
		begun++
		for _, i := range p.Nodes {
			left[x.projection.snap.Nodes[i].Pool]--
		}
	}
	return begun
}

// consolidateBeside proposes a consolidation of the nodes that contribute to it, in the
// projection with everything started so far; nil when it is not valid there.
func (x *search) consolidateBeside(nodes []int32, left []int) *Proposal {
	if !x.untouched(nodes, left) {
		return nil
	}
	p := x.projection.Consolidate(nodes)
	if p == nil || !x.projection.balanced(p.Nodes, p.Saves()) {
		return nil
	}
	return x.withoutIdle(p)
}

// untouched reports whether no started proposal concerns the nodes and the budgets
// allow their removal.
func (x *search) untouched(nodes []int32, left []int) bool {
	budget := slices.Clone(left)
	for _, i := range nodes {
		pool := x.projection.snap.Nodes[i].Pool
		if budget[pool]--; budget[pool] < 0 || !x.projection.Settled(i) {
			return false
		}
	}
	return true
}

func byWorth(open []Option) {
	slices.SortStableFunc(open, func(a, b Option) int {
		if a.Wanted != b.Wanted {
			if a.Wanted {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.worth, a.worth)
	})
}
