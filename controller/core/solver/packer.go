package solver

import (
	"math"
	"slices"
)

// packer packs rows onto sites, the cheaper the better.
type packer struct {
	p    *problem
	n    int // resources in use
	rows []row
	sets []bitset
	// joined says that rows stand for pods of different requests, mean that
	// they then ask for the mean of them and not for the most.
	joined, mean bool
	// most is how many pods a node is given, 0 for as many as fit.
	most int32
	// charge is what packing takes for the cost of an offer; lists are each
	// lane's offers in its order.
	charge []float64
	lists  [][]int32
	// heads packs as many pods as possible first.
	heads bool
	// cost and byCost are the budget's at the start; scarce, if not nil, counts
	// before cost.
	cost   []float64
	byCost [][]int32
	scarce []float64
	// sites are sorted by cost.
	sites []site
	// reach is, by site, how large it and those before it are.
	reach []reach
	// worth is what a pod of each row is worth, in USD/hour; left counts the
	// pods that wait.
	worth []float64
	left  []int32
	// waiting are the rows with pods left, while greedy packs; nil otherwise.
	waiting bitset
	// active are the sites that greedy looks at first; nil for all.
	active bitset
	// reqs are the rows' requests, scaled.
	reqs [][maxDims]float64
	// rivals counts the rows that cannot share a node with a row that wants to
	// be alone, itself included.
	rivals []int32
	spans  spans
	slab   slab
	// shy says that some rows that are not alone of their kind keep others off.
	shy bool
	// clique numbers sets of rows that all keep each other off their node.
	clique []int32

	scratch scratch
	stats   *Stats
}

// pattern is a filling of a site: so many pods of these rows.
type pattern struct {
	site  int32
	idx   []int32
	cnt   []int32
	value float64
	x     float64 // how many of it the linear program takes
}

// packing is a pattern and how many nodes are filled so.
type packing struct {
	*pattern
	times int32
}

// maxProgramRows is how many rows one linear program is tried on; its pivots
// grow with the square.
const maxProgramRows = 400

// goodEnough is how much above its program's value a packing needs no more
// improvement.
const goodEnough = 0.004

// maxImproved is how many nodes a packing may have for single ones to matter.
const maxImproved = 400

// pack fills nodes until nothing is left that fits one, in at most effort
// moves of improvement.
func (k *packer) pack(effort int) []packing {
	k.n = k.p.dims.n()
	k.measure()
	k.weigh()
	k.newSites()
	switch {
	case k.heads:
		k.level()
		return k.greedy(1)
	case effort <= 0:
		k.guess()
		return k.greedy(1)
	}
	blocks := k.blocks()
	k.appraise(blocks, effort)
	k.learn(blocks)
	parts := make([]solved, len(blocks))
	for i, b := range blocks {
		parts[i] = newSolved(b)
		k.stats.Passes += b.stats.Passes
		k.stats.Pivots += b.stats.Pivots
	}
	k.activate(parts)
	out := k.integral(parts)
	if len(parts) > 1 || k.total(out) > parts[0].value()*(1+goodEnough) {
		out = k.improve(out, effort, len(parts))
	}
	return out
}

// appraise prices the rows of all blocks.
func (k *packer) appraise(blocks []*block, effort int) {
	share := k.shares(blocks)
	heirs := kin(blocks, share)
	leads := k.leads(blocks, share, heirs)
	each(blocks, func(i int, b *block) {
		switch {
		case heirs[i] >= 0 || leads[i] >= 0:
		case b.pourable():
			b.pour()
		default:
			b.solve(moves(effort, share[i]), tolerance(share[i]))
		}
	})
	each(blocks, func(i int, b *block) {
		if leads[i] >= 0 {
			b.follow(blocks[leads[i]])
			b.solve(moves(effort, share[i]), tolerance(share[i]))
		}
	})
	each(blocks, func(i int, b *block) {
		if heirs[i] >= 0 {
			b.inherit(blocks[heirs[i]])
		}
	})
}

// fewShapes is how many rows a block has, on average, when packing blocks
// apart misses pods that go well together.
const fewShapes = 12

// improve looks for something better than the rounded programs: packing
// everything at once by guessed worths does well on few pods and on many
// different constraints, and single nodes can be polished.
func (k *packer) improve(list []packing, effort, blocks int) []packing {
	best, polished := list, nodes(list) <= maxImproved
	if !polished && len(k.rows) > fewShapes*blocks {
		return best
	}
	k.guess()
	if polished && blocks > 1 && k.pods() > maxFirstFit && k.pods() <= maxPoured {
		return k.polish(best, effort) // pouring has never done worse
	}
	k.refill()
	if k.pods() <= maxFirstFit { // do all that no effort would do, and more
		k.active = nil
		for s := range k.sites {
			k.sites[s].hint, k.sites[s].basis = [maxDims]float64{}, [maxDims]int32{}
		}
	}
	others := [][]packing{k.greedy(1)}
	if k.pods() <= maxFirstFit {
		others = append(others, k.firstFit(nil), k.firstFit(k.oneLane))
	}
	for _, other := range others {
		k.downsize(other)
		if k.total(other) < k.total(best)*(1-1e-9) {
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

// measure prepares what depends on the rows alone.
func (k *packer) measure() {
	k.left = make([]int32, len(k.rows))
	k.worth = make([]float64, len(k.rows))
	k.reqs = make([][maxDims]float64, len(k.rows))
	k.scratch.cnt = make([]int32, len(k.rows))
	k.refill()
	for i := range k.rows {
		for r := range k.n {
			k.reqs[i][r] = float64(float64(k.rows[i].req[r]) * k.p.scale[r])
		}
	}
	k.rivals = make([]int32, len(k.rows))
	k.newSpans()
	k.cliques()
	k.shy = slices.ContainsFunc(k.rows, func(r row) bool { return r.apart >= 0 && !k.p.apart.alone(r.apart) })
	for i := range k.rows {
		if !k.p.apart.alone(k.rows[i].apart) {
			continue
		}
		for j := range k.rows {
			if k.p.apart.conflicts(k.rows[i].apart, k.rows[j].apart) {
				k.rivals[i]++
			}
		}
	}
}

// cliques puts every row that wants to be alone into the first clique that it
// excludes all members of.
func (k *packer) cliques() {
	k.clique = make([]int32, len(k.rows))
	var members [][]int32
next:
	for i := range k.rows {
		mine := k.rows[i].apart
		if !k.p.apart.alone(mine) {
			continue
		}
		for c := range members {
			if !slices.ContainsFunc(members[c], func(other int32) bool { return !k.p.apart.conflicts(mine, other) }) {
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
	for i := range k.rows {
		n += k.rows[i].n
	}
	return n
}

// shares estimates how much each block matters to the cost of the whole.
func (k *packer) shares(blocks []*block) []float64 {
	out := make([]float64, len(blocks))
	total := 0.0
	for i, b := range blocks {
		b.guess()
		for j := range b.rows {
			out[i] += float64(b.worth[j] * float64(b.rows[j].n))
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

// guess prices rows without a program: as if each had nodes of its own.
func (k *packer) guess() {
	for i := range k.worth {
		k.worth[i] = math.Inf(1)
	}
	for s := range k.sites {
		t := &k.sites[s]
		for _, i := range t.plain {
			if t.cost > k.worth[i]*float64(k.rows[i].n)*(1+1e-9) {
				continue // not even if it held all of them
			}
			r := &k.rows[i]
			if n := int64(t.cost / k.worth[i] * (1 - 1e-9)); n > 0 && !k.holds(t, &r.req, n+1) {
				continue // no more of them than of those that share the best so far
			}
			n := many(&r.req, &t.room, k.p.apart.most(r.apart, r.n), k.n)
			k.worth[i] = min(k.worth[i], t.cost/float64(n))
		}
		for _, i := range t.ported {
			k.worth[i] = min(k.worth[i], t.cost)
		}
	}
}

// smaller is how much less the largest pod counts than the smallest one that wants
// next to nothing: where only one of two finds room, the smaller leaves more of it.
const smaller = 0.01

// level makes every pod worth nearly the same, so much that no site is worth more
// than its cost.
func (k *packer) level() {
	worth := math.Inf(1)
	for s := range k.sites {
		worth = min(worth, k.sites[s].cost)
	}
	n := int32(0)
	var most [maxDims]float64
	for i := range k.rows {
		n += k.rows[i].n
		for r := range k.n {
			most[r] = max(most[r], k.reqs[i][r])
		}
	}
	for i := range k.worth {
		size := 0.0
		for r := range k.n {
			if most[r] > 0 {
				size += k.reqs[i][r] / most[r]
			}
		}
		k.worth[i] = worth / float64(max(1, n)) * (1 - float64(smaller*size/float64(k.n)))
	}
}

// holds says whether the site has room for n times a request.
func (k *packer) holds(t *site, req *vec, n int64) bool {
	for r := range k.n {
		if n*req[r] > t.room[r] {
			return false
		}
	}
	return true
}

// fillings are the best fillings found for the sites at the present worths,
// where they are worth more than atLeast times the cost.
func (k *packer) fillings(atLeast float64) []*pattern {
	var out []*pattern
	for s := range k.sites {
		if f := k.fill(int32(s), atLeast); f != nil {
			out = append(out, f)
		}
	}
	return out
}

// covers is how often the pattern can be taken from what is left.
func (k *packer) covers(f *pattern) int32 {
	n := int32(math.MaxInt32)
	for j, i := range f.idx {
		n = min(n, k.left[i]/f.cnt[j])
	}
	return n
}

// moves are a block's part of the effort: most goes where the money is.
func moves(effort int, share float64) int { return min(effort, 40+int(float64(effort)*share)) }
