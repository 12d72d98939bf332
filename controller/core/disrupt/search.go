package disrupt

import (
	"cmp"
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Effort bounds a search. In a small cluster one search covers every node, in a
// large one a few searches do.
type Effort struct {
	// Deletes and Replaces are the numbers of simulations for removals without
	// replacement and for replacements.
	Deletes, Replaces int
	// Starts is how many replacements one search may start, each of one or several
	// nodes.
	Starts int
}

// DefaultEffort returns the bounds with which a search of 5,000 nodes takes seconds.
func DefaultEffort() Effort { return Effort{Deletes: 12, Replaces: 20, Starts: 8} }

// Option is a node that consolidation may remove.
type Option struct {
	Node int32
	// Cost is its disruption cost, with the policies' additions.
	Cost float64
	// Wanted is set when pods wait for the money that the node costs. Such nodes are
	// tried first.
	Wanted bool

	price float64
	// gain is an upper estimate of what removing the node saves. worth is gain, or
	// price before gain is known, per unit of disruption cost.
	gain, worth float64
}

// Starter starts a proposal or returns the nodes that may not be removed. When it
// starts nothing and returns no error, it returns at least one node.
type Starter func(*Proposal) (refused []int32, err error)

// Search looks for nodes whose removal makes the cluster cheaper and starts the
// proposals that it finds. options are the nodes that may be removed, and left is by
// pool how many. It first looks for nodes that need no replacement, and whether
// removing more nodes at once with new ones saves more. Only if it starts none of
// these does it look for other replacements. A started proposal becomes part of the
// scene, and later ones must be valid with it. Search returns how many proposals it
// started.
//
// Every option is estimated. Most simulations go to the options with the highest
// estimate. The rest go to the others in turn, so that every option is tried at some
// time even if the estimates favour others.
func (sc *Scene) Search(options []Option, left []int, effort Effort, start Starter) (int, error) {
	open := options[:0:0]
	for _, o := range options {
		o.price = sc.prices[o.Node].effective
		o.worth = o.price / (1 + o.Cost)
		if sc.Settled(o.Node) && o.price > 0 {
			open = append(open, o)
		}
	}
	if len(open) == 0 {
		return 0, nil
	}
	byWorth(open)
	gone := sc.findRemovals(open, left, effort.Deletes)
	if gone != nil && effort.Replaces > 0 {
		alone := &prospect{saves: gone.Saves(), score: gone.Score()} // it is one prospect without parts
		if f := choose(append(sc.lowestCostPrefix(open, left, gone.Saves()), alone)); f != alone {
			if begun, err := sc.beginReplacements([]*prospect{f}, slices.Clone(left), effort.Starts, start); begun > 0 || err != nil {
				return begun, err
			}
		}
	}
	if begun, err := sc.beginRemoval(gone, start); begun || err != nil {
		return 1, err
	}
	return sc.beginReplacements(sc.findReplacements(open, left, effort.Replaces), slices.Clone(left), effort.Starts, start)
}

// beginRemoval starts the removal of the nodes, or of those that are not refused.
func (sc *Scene) beginRemoval(p *Proposal, start Starter) (bool, error) {
	for range 2 {
		if p == nil {
			return false, nil
		}
		refused, err := start(p)
		if len(refused) == 0 || err != nil {
			return err == nil, err
		}
		rest := slices.DeleteFunc(slices.Clone(p.Nodes), func(i int32) bool { return slices.Contains(refused, i) })
		if len(rest) == 0 {
			return false, nil
		}
		if p = sc.Fits(p.Method, rest); p != nil && !sc.worksInAnyOrder(p) {
			return false, nil
		}
	}
	return false, nil
}

// beginReplacements starts the best of the prospects, and of the others those that
// are still valid with it. A prospect with several independent parts is started part
// by part, so that each succeeds or fails on its own.
func (sc *Scene) beginReplacements(found []*prospect, left []int, starts int, start Starter) (int, error) {
	begun := 0
	var shares [][]int32
	for len(found)+len(shares) > 0 && begun < max(1, starts) {
		if len(shares) == 0 {
			f := choose(found)
			found = slices.DeleteFunc(found, func(x *prospect) bool { return x == f })
			shares = f.shares(starts - begun)
			continue
		}
		p := sc.consolidateBeside(shares[0], left)
		if shares = shares[1:]; p == nil {
			continue
		}
		refused, err := start(p)
		if err != nil {
			return begun, err
		}
		if len(refused) > 0 {
			continue
		}
		begun++
		for _, i := range p.Nodes {
			left[sc.snap.Nodes[i].Pool]--
		}
	}
	return begun, nil
}

// consolidateBeside proposes a consolidation in the scene with everything started so
// far; nil when it is not valid there.
func (sc *Scene) consolidateBeside(nodes []int32, left []int) *Proposal {
	if !sc.untouched(nodes, left) {
		return nil
	}
	p := sc.Consolidate(nodes)
	if p == nil || !sc.balanced(p.Nodes, p.Saves(), p.Cost) {
		return nil
	}
	return p
}

// untouched reports whether no started proposal concerns the nodes and the budgets
// allow their removal.
func (sc *Scene) untouched(nodes []int32, left []int) bool {
	budget := slices.Clone(left)
	for _, i := range nodes {
		pool := sc.snap.Nodes[i].Pool
		if budget[pool]--; budget[pool] < 0 || !sc.Settled(i) {
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

// findRemovals finds nodes that can be removed together without replacement: the
// nodes whose pods fit elsewhere by the estimate, as far as the solver confirms it.
func (sc *Scene) findRemovals(open []Option, left []int, tries int) *Proposal {
	r := sc.capacity()
	budget := slices.Clone(left)
	takes := make([]bool, len(sc.snap.Nodes))
	var likely []int32
	for i := range open {
		o := &open[i]
		pool := sc.snap.Nodes[o.Node].Pool
		if !sc.balanced([]int32{o.Node}, o.price, o.Cost) {
			sc.record([]int32{o.Node}, Unworthy, unworthy(o.price))
			continue
		}
		if budget[pool] <= 0 || takes[o.Node] {
			continue
		}
		r.exclude(o.Node)
		moves, lost := r.placeBestFit(sc.survey.moving[o.Node])
		if len(lost) > 0 {
			r.undo(moves)
			r.include(o.Node)
			continue
		}
		for _, m := range moves {
			takes[m.node] = true
		}
		budget[pool]--
		likely = append(likely, o.Node)
	}
	return sc.provenRemovals(likely, tries)
}

// provenRemovals returns the removal of those nodes that the solver confirms
// together. It halves a set that the solver rejects, and spends at most the given
// simulations.
func (sc *Scene) provenRemovals(likely []int32, tries int) *Proposal {
	var best *Proposal
	var kept []int32
	work := [][]int32{likely}
	for len(work) > 0 && tries > 0 {
		part := work[len(work)-1]
		work = work[:len(work)-1]
		if len(part) == 0 {
			continue
		}
		tries--
		if p := sc.Fits(Underutilized, slices.Concat(kept, part)); p != nil && sc.worksInAnyOrder(p) {
			best, kept = p, p.Nodes
			continue
		}
		if len(part) > 1 {
			work = append(work, part[len(part)/2:], part[:len(part)/2])
		}
	}
	return best
}

// maxTogether is the largest number of nodes that one command replaces.
const maxTogether = 128

// findReplacements finds nodes whose pods cost less on other nodes, new ones
// included. It tries the most promising nodes together, as many as the budgets
// allow, then half of them and so on; then the most promising ones singly; and then
// others in turn.
func (sc *Scene) findReplacements(open []Option, left []int, tries int) []*prospect {
	open = sc.promising(open)
	var found []*prospect
	try := func(nodes []int32) {
		if tries > 0 && len(nodes) > 0 {
			tries--
			switch p := sc.Consolidate(nodes); {
			case p == nil:
			case sc.balanced(nodes, p.Saves(), p.Cost):
				found = append(found, sc.prospect(p))
			default:
				sc.record(nodes, Unworthy, unworthy(p.Saves()))
			}
		}
	}
	all := sc.prefix(open, left, maxTogether)
	for size := len(all); size > 1; size /= 2 {
		try(all[:size])
	}
	allowed := slices.DeleteFunc(open, func(o Option) bool { return left[sc.snap.Nodes[o.Node].Pool] <= 0 })
	first := min(len(allowed), tries/2)
	for _, o := range allowed[:first] {
		try([]int32{o.Node})
	}
	rest := allowed[first:]
	for i := range min(len(rest), tries) {
		at := (int(sc.snap.Seed%uint64(len(rest))) + i) % len(rest)
		try([]int32{rest[at].Node})
	}
	return found
}

// lowestCostPrefix finds common replacements for the nodes with the lowest
// disruption cost: for as many as the budgets allow, then for half of them and so
// on, while their price exceeds saved, what is saved without a replacement. Removing
// nodes without a replacement fills the capacity that remains free and may rule out
// a larger saving; removing more nodes at once and launching a few can be better.
func (sc *Scene) lowestCostPrefix(open []Option, left []int, saved float64) []*prospect {
	open = slices.Clone(open)
	slices.SortStableFunc(open, func(a, b Option) int { return cmp.Compare(a.Cost, b.Cost) })
	var found []*prospect
	all := sc.prefix(open, left, maxTogether)
	for size := len(all); size > 1; size /= 2 {
		price := 0.0
		for _, i := range all[:size] {
			price += sc.prices[i].effective
		}
		if price <= saved {
			break
		}
		if p := sc.Consolidate(all[:size]); p != nil && sc.balanced(all[:size], p.Saves(), p.Cost) {
			found = append(found, sc.prospect(p))
		}
	}
	return found
}

// choose returns the prospect with the largest saving among those with at least half
// of the best score. Of two with equal savings it returns the one with the higher
// score.
func choose(found []*prospect) *prospect {
	var most *prospect
	score := 0.0
	for _, f := range found {
		score = max(score, f.score)
	}
	for _, f := range found {
		switch {
		case f.score < score/2:
		case most == nil, f.saves > most.saves*(1+roundingShare), f.saves >= most.saves*(1-roundingShare) && f.score > most.score:
			most = f
		}
	}
	return most
}

// promising estimates the gain of each option and drops those without one.
func (sc *Scene) promising(open []Option) []Option {
	r := sc.capacity()
	unit := sc.unitPrices(r)
	out := open[:0:0]
	for _, o := range open {
		r.exclude(o.Node)
		moves, lost := r.placeBestFit(sc.survey.moving[o.Node])
		r.undo(moves)
		r.include(o.Node)
		o.gain = o.price - bound(r, unit, lost)
		o.worth = o.gain / (1 + o.Cost)
		if o.gain > o.price*roundingShare {
			out = append(out, o)
		}
	}
	byWorth(out)
	return out
}

// bound returns a lower bound on the cost of new nodes for the pods, in USD/hour:
// for each resource their requests times the lowest unit price, of which the largest
// counts.
func bound(r *capacityIndex, unit []float64, pods []int32) float64 {
	sum := make([]int64, len(unit))
	for _, p := range pods {
		add(sum, r.requests[r.s.Pods[p].Spec], 1)
	}
	least := 0.0
	for d, n := range sum {
		least = max(least, float64(n)*unit[d])
	}
	return least
}

// unitPrices returns, per resource, the lowest effective price of one unit among all
// offerings that can be launched.
func (sc *Scene) unitPrices(r *capacityIndex) []float64 {
	unit := make([]float64, len(r.dims))
	for p := range sc.snap.Pools {
		pool := &sc.snap.Pools[p]
		if pool.Catalog < 0 || pool.NotReady != "" {
			continue
		}
		types := sc.snap.Catalogs[pool.Catalog].Types
		for t := range types {
			sc.unitPrice(r, unit, p, t)
		}
	}
	return unit
}

func (sc *Scene) unitPrice(r *capacityIndex, unit []float64, pool, typ int) {
	t := &sc.snap.Catalogs[sc.snap.Pools[pool].Catalog].Types[typ]
	for o := range t.Offerings {
		if !t.Offerings[o].Available {
			continue
		}
		cost, ok := sc.effective(pool, typ, o)
		if !ok {
			continue
		}
		for name, d := range r.dims {
			if all := t.Allocatable[name]; all > 0 {
				if each := cost / float64(all); unit[d] == 0 || each < unit[d] {
					unit[d] = each
				}
			}
		}
	}
}

// effective returns the cost of an offering; false when a rank policy excluded it.
func (sc *Scene) effective(pool, typ, offering int) (float64, bool) {
	billed := sc.snap.Catalogs[sc.snap.Pools[pool].Catalog].Types[typ].Offerings[offering].Price.USD()
	if pool >= len(sc.In.Costs) || sc.In.Costs[pool] == nil {
		return billed, true
	}
	switch e := &sc.In.Costs[pool][typ][offering]; {
	case e.Excluded:
		return 0, false
	case len(e.Tiers) > 0:
		return e.Tiers[0].Cost, true
	default:
		return billed, true
	}
}

// prefix returns the first nodes, at most size, that the pools' budgets allow to be
// removed together.
func (sc *Scene) prefix(open []Option, left []int, size int) []int32 {
	budget := slices.Clone(left)
	var out []int32
	for _, o := range open {
		pool := sc.snap.Nodes[o.Node].Pool
		if len(out) == size {
			break
		}
		if budget[pool] > 0 {
			budget[pool]--
			out = append(out, o.Node)
		}
	}
	return out
}

// balance is the factor by which a saving's share may be smaller than the share of
// the disruption under consolidationPolicy Balanced, as in Karpenter.
const balance = 2

// balanced reports whether a saving is worth its disruption for the pools with
// consolidationPolicy Balanced. It compares the share of the pools' cost that is
// saved with the share of the pools' disruption cost.
func (sc *Scene) balanced(nodes []int32, saves, cost float64) bool {
	asked := false
	var pools []int32
	for _, i := range nodes {
		pool := sc.snap.Nodes[i].Pool
		if !slices.Contains(pools, pool) {
			pools = append(pools, pool)
		}
		asked = asked || sc.snap.Pools[pool].Disruption.Policy == "Balanced"
	}
	if !asked {
		return true
	}
	price, disruption := 0.0, 0.0
	for _, pool := range pools {
		t := sc.totals()[pool]
		price, disruption = price+t.price, disruption+t.disruption
	}
	if price == 0 || disruption == 0 {
		return false
	}
	return balance*saves/price >= (float64(len(nodes))+cost)/disruption
}

// unworthy returns the reason for a saving that is too small.
func unworthy(usd float64) string {
	return fmt.Sprintf("%.4f $/h could be saved, too little for the disruption under consolidationPolicy Balanced", usd)
}

// total is the effective cost of a pool's nodes and the cost of disrupting all of
// them.
type total struct{ price, disruption float64 }

// totals returns the totals by pool. The first call computes them.
func (sc *Scene) totals() []total {
	if sc.poolTotals == nil {
		sc.poolTotals = make([]total, len(sc.snap.Pools))
		for i := range sc.survey.s.Nodes {
			if n := &sc.survey.s.Nodes[i]; n.Pool >= 0 && n.State == model.Initialized {
				sc.poolTotals[n.Pool].price += sc.prices[i].effective
				sc.poolTotals[n.Pool].disruption += 1 + sc.survey.Cost(int32(i))
			}
		}
	}
	return sc.poolTotals
}
