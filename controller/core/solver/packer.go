package solver

import (
	"math"
	"slices"

	"spokeshave.dev/controller/core/solver/vec"
)

// packer packs items onto bin types, the cheaper the better.
type packer struct {
	p     *problem
	n     int // resources in use
	items []item
	sets  []vec.Bits
	// merged says that items stand for pods of different requests, meanRequests that
	// they then ask for the mean of them and not for the most.
	merged, meanRequests bool
	// podsPerNode is how many pods a node is given, 0 for as many as fit.
	podsPerNode int32
	// packingCost is what packing takes for the cost of an offer; offersByCost are each
	// node template's offers in its order.
	packingCost  []float64
	offersByCost [][]int32
	// maxPods packs as many pods as possible first.
	maxPods bool
	// cost and byCost are the budget's at the start; scarcity, if not nil, counts
	// before cost.
	cost     []float64
	byCost   [][]int32
	scarcity []float64
	// binTypes are sorted by cost.
	binTypes []binType
	// largest is, by bin type, how large it and those before it are.
	largest []largestSoFar
	// duals is what a pod of each item is worth, in USD/hour; left counts the
	// pods that wait.
	duals []float64
	left  []int32
	// waiting are the items with pods left, while greedy packs; nil otherwise.
	waiting vec.Bits
	// active are the bin types that greedy looks at first; nil for all.
	active vec.Bits
	// reqs are the items' requests, scaled.
	reqs []vec.Reals
	// conflictDegree counts the items that cannot share a node with an item that wants to
	// be alone, itself included.
	conflictDegree []int32
	runs           requestRuns
	arena          arena
	// hasConflicts says that some items that are not alone of their kind keep others off.
	hasConflicts bool
	// clique numbers sets of items that all keep each other off their node.
	clique []int32

	scratch scratch
	stats   *Stats
}

// pattern is a filling of a bin type: so many pods of these items.
type pattern struct {
	binType int32
	items   []int32
	counts  []int32
	value   float64
	amount  float64 // how many of it the linear program takes
}

// packing is a pattern and how many nodes are filled so.
type packing struct {
	*pattern
	times int32
}

// maxMasterItems is how many items one linear program is tried on; its pivots
// grow with the square.
const maxMasterItems = 400

// acceptedGap is how much above its program's value a packing needs no more
// improvement.
const acceptedGap = 0.004

// maxImproved is how many nodes a packing may have for single ones to matter.
const maxImproved = 400

// pack fills nodes until nothing is left that fits one, in at most effort
// moves of improvement.
func (k *packer) pack(effort int) []packing {
	k.n = k.p.dims.n()
	k.measure()
	k.setPackingCosts()
	k.newBinTypes()
	switch {
	case k.maxPods:
		k.equalDuals()
		return k.greedy(1)
	case effort <= 0:
		k.initialDuals()
		return k.greedy(1)
	}
	blocks := k.blocks()
	k.computeDuals(blocks, effort)
	k.importDuals(blocks)
	parts := make([]solved, len(blocks))
	for i, b := range blocks {
		parts[i] = newSolved(b)
		k.stats.Passes += b.stats.Passes
		k.stats.Pivots += b.stats.Pivots
	}
	k.activate(parts)
	out := k.integral(parts)
	if len(parts) > 1 || k.totalCost(out) > parts[0].value()*(1+acceptedGap) {
		out = k.improve(out, effort, len(parts))
	}
	return out
}

// computeDuals prices the items of all blocks.
func (k *packer) computeDuals(blocks []*block, effort int) {
	share := k.shares(blocks)
	heirs := dualDonors(blocks, share)
	leads := k.warmStartSources(blocks, share, heirs)
	each(blocks, func(i int, b *block) {
		switch {
		case heirs[i] >= 0 || leads[i] >= 0:
		case b.useAggregateLP():
			b.aggregateDuals()
		default:
			b.solve(moves(effort, share[i]), tolerance(share[i]))
		}
	})
	each(blocks, func(i int, b *block) {
		if leads[i] >= 0 {
			b.warmStart(blocks[leads[i]])
			b.solve(moves(effort, share[i]), tolerance(share[i]))
		}
	})
	each(blocks, func(i int, b *block) {
		if heirs[i] >= 0 {
			b.inheritDuals(blocks[heirs[i]])
		}
	})
}

// fewRequests is how many items a block has, on average, when packing blocks
// apart misses pods that go well together.
const fewRequests = 12

// improve looks for something better than the rounded programs: packing
// everything at once by guessed duals does well on few pods and on many
// different constraints, and single nodes can be polished.
func (k *packer) improve(list []packing, effort, blocks int) []packing {
	best, polished := list, nodes(list) <= maxImproved
	if !polished && len(k.items) > fewRequests*blocks {
		return best
	}
	k.initialDuals()
	if polished && blocks > 1 && k.pods() > maxFirstFit && k.pods() <= maxAggregatePods {
		return k.polish(best, effort) // pouring has never done worse
	}
	k.refill()
	if k.pods() <= maxFirstFit { // do all that no effort would do, and more
		k.active = nil
		for s := range k.binTypes {
			k.binTypes[s].resourcePrices, k.binTypes[s].basis = vec.Reals{}, [vec.MaxDims]int32{}
		}
	}
	others := [][]packing{k.greedy(1)}
	if k.pods() <= maxFirstFit {
		others = append(others, k.firstFit(nil), k.firstFit(k.oneTemplate))
	}
	for _, other := range others {
		k.downsize(other)
		if k.totalCost(other) < k.totalCost(best)*(1-1e-9) {
			best = other
		}
	}
	if polished {
		best = k.polish(best, effort)
	}
	return best
}

func nodes(list []packing) int32 {
	n := int32(0)
	for i := range list {
		n += list[i].times
	}
	return n
}

// measure prepares what depends on the items alone.
func (k *packer) measure() {
	k.left = make([]int32, len(k.items))
	k.duals = make([]float64, len(k.items))
	k.reqs = make([]vec.Reals, len(k.items))
	k.scratch.counts = make([]int32, len(k.items))
	k.refill()
	for i := range k.items {
		for r := range k.n {
			k.reqs[i][r] = float64(float64(k.items[i].request[r]) * k.p.scale[r])
		}
	}
	k.conflictDegree = make([]int32, len(k.items))
	k.newRequestRuns()
	k.cliques()
	k.hasConflicts = slices.ContainsFunc(k.items, func(r item) bool { return r.conflict >= 0 && !k.p.conflicts.Exclusive(r.conflict) })
	for i := range k.items {
		if !k.p.conflicts.Exclusive(k.items[i].conflict) {
			continue
		}
		for j := range k.items {
			if k.p.conflicts.Conflicts(k.items[i].conflict, k.items[j].conflict) {
				k.conflictDegree[i]++
			}
		}
	}
}

// cliques puts every item that wants to be alone into the first clique that it
// excludes all members of.
func (k *packer) cliques() {
	k.clique = make([]int32, len(k.items))
	var members [][]int32
next:
	for i := range k.items {
		mine := k.items[i].conflict
		if !k.p.conflicts.Exclusive(mine) {
			continue
		}
		for c := range members {
			if !slices.ContainsFunc(members[c], func(other int32) bool { return !k.p.conflicts.Conflicts(mine, other) }) {
				k.clique[i] = int32(c)
				if !slices.Contains(members[c], mine) {
					members[c] = append(members[c], mine)
				}
				continue next
			}
		}
		k.clique[i] = int32(len(members))
		members = append(members, []int32{mine})
	}
}

func (k *packer) pods() int32 {
	n := int32(0)
	for i := range k.items {
		n += k.items[i].n
	}
	return n
}

// shares estimates how much each block matters to the cost of the whole.
func (k *packer) shares(blocks []*block) []float64 {
	out := make([]float64, len(blocks))
	total := 0.0
	for i, b := range blocks {
		b.initialDuals()
		for j := range b.items {
			out[i] += float64(b.duals[j] * float64(b.items[j].n))
		}
		total += out[i]
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

// tolerance is how exactly a block's program is solved: blocks of a small share
// in the cost are worth less care.
func tolerance(share float64) float64 { return min(0.05, 0.002/math.Sqrt(share)) }

// initialDuals prices items without a program: as if each had nodes of its own.
func (k *packer) initialDuals() {
	for i := range k.duals {
		k.duals[i] = math.Inf(1)
	}
	for s := range k.binTypes {
		t := &k.binTypes[s]
		for _, i := range t.sharedItems {
			if t.cost > k.duals[i]*float64(k.items[i].n)*(1+1e-9) {
				continue // not even if it held all of them
			}
			r := &k.items[i]
			if n := int64(t.cost / k.duals[i] * (1 - 1e-9)); n > 0 && !k.holds(t, &r.request, n+1) {
				continue // no more of them than of those that share the best so far
			}
			n := vec.MaxCopies(&r.request, &t.capacity, k.p.conflicts.Limit(r.conflict, r.n), k.n)
			k.duals[i] = min(k.duals[i], t.cost/float64(n))
		}
		for _, i := range t.exclusiveItems {
			k.duals[i] = min(k.duals[i], t.cost)
		}
	}
}

// smaller is how much less the largest pod counts than the smallest one that wants
// next to nothing: where only one of two finds room, the smaller leaves more of it.
const smaller = 0.01

// equalDuals makes every pod worth nearly the same, so much that no bin type is worth more
// than its cost.
func (k *packer) equalDuals() {
	dual := math.Inf(1)
	for s := range k.binTypes {
		dual = min(dual, k.binTypes[s].cost)
	}
	n := int32(0)
	var most vec.Reals
	for i := range k.items {
		n += k.items[i].n
		for r := range k.n {
			most[r] = max(most[r], k.reqs[i][r])
		}
	}
	for i := range k.duals {
		size := 0.0
		for r := range k.n {
			if most[r] > 0 {
				size += k.reqs[i][r] / most[r]
			}
		}
		k.duals[i] = dual / float64(max(1, n)) * (1 - float64(smaller*size/float64(k.n)))
	}
}

// holds says whether the bin type has room for n times a request.
func (k *packer) holds(t *binType, req *vec.Vector, n int64) bool {
	for r := range k.n {
		if n*req[r] > t.capacity[r] {
			return false
		}
	}
	return true
}

// improvingPatterns are the best fillings found for the bin types at the present duals,
// where they are worth more than atLeast times the cost.
func (k *packer) improvingPatterns(atLeast float64) []*pattern {
	var out []*pattern
	for s := range k.binTypes {
		if f := k.fill(int32(s), atLeast); f != nil {
			out = append(out, f)
		}
	}
	return out
}

// covers is how often the pattern can be taken from what is left.
func (k *packer) covers(f *pattern) int32 {
	n := int32(math.MaxInt32)
	for j, i := range f.items {
		n = min(n, k.left[i]/f.counts[j])
	}
	return n
}

// moves are a block's part of the effort: most goes where the money is.
func moves(effort int, share float64) int { return min(effort, 40+int(float64(effort)*share)) }
