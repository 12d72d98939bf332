package disrupt

import (
	"cmp"
	"fmt"
	"slices"

	"spokeshave.dev/controller/core/model"
)

// Effort bounds a search, in simulations: enough to find what there is in a
// small cluster at once, and in a large one within a few rounds.
type Effort struct {
	// Deletes and Replaces are the simulations spent on either question.
	Deletes, Replaces int
	// Starts is how many replacements may be begun at once, each of one node or
	// of several.
	Starts int
}

// DefaultEffort keeps a pass over 5,000 nodes within seconds.
func DefaultEffort() Effort { return Effort{Deletes: 12, Replaces: 20, Starts: 8} }

// Option is a node that consolidation may touch.
type Option struct {
	Node int32
	// Cost is what its disruption costs, policies included.
	Cost float64
	// Wanted says that pods wait for the money that the node costs: it is
	// looked at before others.
	Wanted bool

	price float64
	// gain estimates what removing the node saves, at most; worth is that, or
	// the price, per disruption.
	gain, worth float64
}

// Starter begins a proposal, or names the nodes that somebody refuses to let
// go; one that begins nothing names at least one.
type Starter func(*Proposal) (refused []int32, err error)

// Search looks for the nodes whose removal makes the cluster cheaper. options
// are those that may go, left how many of each pool. It asks first which nodes
// can simply go, and whether more of them can go at once for something new; only
// when there are none what else could be replaced. What is begun becomes part of
// the scene, and what comes after it has to hold beside it. It returns how many
// proposals were begun.
//
// Every option is estimated; the simulations go to the most promising, and
// some to others in turn, so that no option waits for ever behind one that the
// estimate flatters.
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
		alone := &prospect{saves: gone.Saves(), score: gone.Score()} // it goes as a whole
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

// beginRemoval begins the removal of nodes, or of those that nobody refuses to let go.
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

// beginReplacements begins the best of the replacements found, and of the others those
// that hold beside it. One that is several is begun as such, so that each of them
// succeeds or fails for itself.
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

// consolidateBeside proposes a consolidation beside what was begun, nil when it does not hold
// there.
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

// untouched says whether nodes are untouched by what was begun, and within budgets.
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

// findRemovals finds nodes that can go together without any replacement: those that
// the estimate finds room for, as far as the solver agrees.
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

// provenRemovals keeps the nodes that the solver lets go together, splitting what it
// refuses. Nodes that others' pods would move to are left out.
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

// maxTogether is the most nodes that are replaced by one command.
const maxTogether = 128

// findReplacements finds the nodes whose pods are cheaper on others, new ones among
// them: the most promising together, as many as may go, then half of them and
// so on; the most promising one by one; and in turn others.
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

// lowestCostPrefix finds what the nodes that cost least to disrupt could be replaced by
// together, as many as may go, then half of them and so on, as long as that may
// save more than is saved without. Nodes that simply go leave their pods where
// there happens to be room, and with them no room for what comes next; to take
// more nodes at once and launch something for the rest may be better, and that is
// how Karpenter finds its largest savings.
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

// choose takes the proposal that saves most, among those whose saving per
// disruption is not far from the best; of two that save the same, the one that
// disrupts less.
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

// promising estimates what each option's removal would save and drops those
// that promise nothing.
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

// bound is the least that new nodes for the pods can cost: of every resource
// they need at least their requests, at the lowest unit price there is.
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

// unitPrices are the lowest effective prices of a unit of each resource among
// all that can be launched.
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

// effective is what an offering costs; false when a rank policy dropped it.
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

// prefix are the first options that the pools' budgets let go together.
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

// balance is how much smaller than its share of the disruption a saving may be
// under consolidationPolicy Balanced, as in Karpenter.
const balance = 2

// balanced says whether a saving is worth its disruption to the pools with
// consolidationPolicy Balanced: the share of the pools' cost that is saved,
// against the share of their disruption cost.
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

// unworthy says what a saving does not make up for.
func unworthy(usd float64) string {
	return fmt.Sprintf("%.4f $/h could be saved, too little for the disruption under consolidationPolicy Balanced", usd)
}

// total is what a pool's nodes cost, and what disrupting them all would.
type total struct{ price, disruption float64 }

// totals are counted once, by pool.
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
