package solver

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"spokeshave.dev/controller/core/model"
)

// boundMoves and boundTolerance say how exactly the programs of a bound are solved.
const (
	boundMoves     = 100_000
	boundTolerance = 0.001
)

// LowerBound is what new nodes for the pods that a plan puts on new nodes must
// cost at least, however they are packed: USD/hour of effective cost and
// Catalog.NodeCost together; 0 when there are no new nodes, or when shapes are so
// many that nothing is known. What pods require of their node counts, and so do
// anti-affinity on single nodes and, where nothing else is counted, a
// Deployment's spread over itself. Preferences, limits, headroom and the other
// constraints between pods do not.
func LowerBound(in Input, plan *model.Plan) float64 {
	in.Pods = nil
	for i := range plan.Nodes {
		in.Pods = append(in.Pods, plan.Nodes[i].Pods...)
	}
	if len(in.Pods) == 0 {
		return 0
	}
	in = with(&in, make([][]wish, len(in.Snapshot.Specs)))
	p := newProblem(&in, in.Snapshot.Specs, nil)
	b := bounder{problem: p, origin: map[string]int{}}
	b.relax()
	b.deal()
	p.harden()
	for i := range p.topo.censuses { // with pods on all nodes, more may share one
		c := &p.topo.censuses[i]
		c.hard = c.hard && !c.spread
	}
	for i := range p.classes {
		p.classes[i].apart = p.apart.id(&p.classes[i])
	}
	return b.bound()
}

// bounder works out a lower bound.
type bounder struct {
	*problem
	// evens are classes that have to be dealt evenly to domains, origin is their
	// number by the keys of their parts.
	evens  []even
	origin map[string]int
}

// even is a class of n pods in z domains, none of which may have more than skew more
// than another; worth is theirs by domain.
type even struct {
	n, z, skew int32
	worth      []float64
}

// most is how many pods a domain may have: the others have skew less at least.
func (e *even) most() int32 {
	if e.n <= e.skew {
		return e.n
	}
	return e.skew + (e.n-e.skew)/e.z
}

// relax takes the least that every offer may come to cost for its cost, and
// lets pods go to lighter pools where bounds may drive them there.
func (b *bounder) relax() {
	full := newBudget(b.problem)
	for l := range b.lanes {
		if full.bounded(b.lanes[l].pool) {
			for l := range b.lanes {
				b.lanes[l].level = 0
			}
			b.levels = min(b.levels, 1)
			break
		}
	}
	if !full.tiered {
		return
	}
	for o := range b.offers {
		f := &b.offers[o]
		for _, t := range b.tiers(int32(o)) {
			f.cost = min(f.cost, t.Cost, f.price.USD())
		}
	}
	b.sortLanes()
}

// deal splits the classes that spread over themselves alone: each part has to go
// to another domain.
func (b *bounder) deal() {
	b.newDomains(nil)
	owners := make([]int, len(b.topo.censuses)) // 1 when one class is counted
	for i := range b.classes {
		if ties := b.classes[i].ties; ties != nil {
			for _, c := range ties.counted {
				owners[c]++
			}
		}
	}
	b.others(owners)
	var out []class
	for i := range b.classes {
		cl := &b.classes[i]
		if r := cl.evenly(owners); r != nil {
			if parts := b.split(cl, r); parts != nil {
				out = append(out, parts...)
				continue
			}
		}
		out = append(out, *cl)
	}
	b.classes = sortClasses(out)
}

// others counts among the owners of censuses the pods that are elsewhere.
func (b *bounder) others(owners []int) {
	mine := make([]bool, len(b.snap.Pods))
	for _, i := range b.in.Pods {
		mine[i] = true
	}
	for i := range b.snap.Pods {
		if mine[i] {
			continue
		}
		if ties := b.topo.of(b.snap, b.snap.Pods[i].Spec); ties != nil {
			for _, c := range ties.counted {
				owners[c]++
			}
		}
	}
}

// evenly is a rule by which the class spreads over itself alone, nil for none.
func (c *class) evenly(owners []int) *rule {
	if c.ties == nil || len(c.reasons) > 0 {
		return nil
	}
	for i := range c.ties.own {
		if r := &c.ties.own[i]; r.kind == spreads && owners[r.census] == 1 && c.ties.times(r.census) == 1 {
			return r
		}
	}
	return nil
}

// split makes a class for each domain that the pods may use; nil where that says
// nothing.
func (b *bounder) split(cl *class, r *rule) []class {
	d := &b.domains[b.keyOf(b.topo.censuses[r.census].key)]
	var sets []bitset
	for _, set := range d.sets {
		set = set.clone()
		if set.and(b.choices.sets[cl.offers]); b.someFits(&cl.req, set) {
			sets = append(sets, set)
		}
	}
	z, n := int32(len(sets)), cl.n()
	if z < 2 || n < z {
		return nil
	}
	parts := make([]class, z)
	for v, set := range sets {
		part := *cl
		from, to := n*int32(v)/z, n*int32(v+1)/z
		part.pods, part.key, part.offers = cl.pods[from:to], cl.key+" @"+strconv.Itoa(v), b.choices.id(set)
		b.origin[part.key] = len(b.evens)
		parts[v] = part
	}
	b.evens = append(b.evens, even{n: n, z: z, skew: r.max})
	return parts
}

// bound prices the pods.
func (b *bounder) bound() float64 {
	left := make([]int32, len(b.classes))
	for c := range left {
		left[c] = b.classes[c].n()
	}
	a := newAttempt(b.problem, left, mode{})
	k := &packer{p: b.problem, cost: a.b.cost, byCost: a.b.byCost, stats: &Stats{}}
	all := newBitset(len(b.offers))
	all.setRange(0, int32(len(b.offers)))
	if a.rowsFor(k, all); k.joined || len(k.rows) == 0 {
		return 0
	}
	b.glue(a, k)
	sum := 0.0
	for i, w := range k.fairWorths(b.most(k)) {
		for _, part := range k.rows[i].parts {
			if at, ok := b.origin[b.classes[part.class].key]; ok {
				b.evens[at].worth = append(b.evens[at].worth, w)
			} else {
				sum += float64(w * float64(part.n))
			}
		}
	}
	for i := range b.evens {
		sum += b.evens[i].least()
	}
	return sum
}

// most is how many pods of each row a node may be offered: of those dealt to domains,
// more may be in one than the part that was made for it.
func (b *bounder) most(k *packer) []int32 {
	out := make([]int32, len(k.rows))
	for i := range k.rows {
		out[i] = k.rows[i].n
		for _, part := range k.rows[i].parts {
			if at, ok := b.origin[b.classes[part.class].key]; ok {
				out[i] += glued * (b.evens[at].most() - part.n)
			}
		}
	}
	return out
}

// glued is how many nodes are taken for one: pods on them are as good as cut to
// pieces, and the program's worths are nearly the best ones of the relaxation.
const glued = 64

// glue makes nodes of so many of each kind, and as many times the pods. That pods
// keep each other off a node becomes a resource of which a node has one.
func (b *bounder) glue(a *attempt, k *packer) {
	k.n = b.dims.n()
	k.cliques()
	pods := map[int32]int32{}
	for i := range k.rows {
		if b.apart.alone(k.rows[i].apart) {
			pods[k.clique[i]] += k.rows[i].n
		}
	}
	large := slices.SortedFunc(maps.Keys(pods), func(x, y int32) int {
		if o := cmp.Compare(pods[y], pods[x]); o != 0 {
			return o
		}
		return cmp.Compare(x, y)
	})
	large = large[:min(len(large), maxDims-k.n)]
	for i := range k.rows {
		r := &k.rows[i]
		if at := slices.Index(large, k.clique[i]); at >= 0 && b.apart.alone(r.apart) {
			r.req[k.n+at] = 1
		}
		r.apart = noPorts
		r.n *= glued
	}
	for i := range b.bins {
		room := &b.bins[i].room
		for d := range room {
			room[d] *= glued
		}
		for at := range large {
			room[k.n+at] = glued
		}
	}
	for at := range large {
		b.scale[k.n+at] = 1000
	}
	for o := range k.cost {
		fixed := b.fixed(b.offers[o].lane).USD()
		k.cost[o] = float64(glued*(k.cost[o]+fixed)) - fixed
	}
	k.n += len(large)
	a.sortRows(k.rows, k.sets)
}

// least is the least worth of the pods, however they are dealt: for every number
// that the fullest domain may have, the cheap ones are filled first.
func (e *even) least() float64 {
	slices.Sort(e.worth)
	z, best := e.z, math.Inf(1)
	for most := (e.n + z - 1) / z; most <= e.most(); most++ {
		fewest := max(0, most-e.skew)
		sum, left := 0.0, e.n-z*fewest
		for _, w := range e.worth {
			n := min(left, most-fewest)
			sum += float64(w * float64(fewest+n))
			left -= n
		}
		best = min(best, sum)
	}
	return best
}

// fairWorths are worths of the rows at which no node could hold more than it
// costs, of so many pods of each, so that their sum over all pods bounds the cost of
// any packing.
func (k *packer) fairWorths(most []int32) []float64 {
	k.measure()
	k.weigh()
	k.newSites()
	blocks := k.blocks()
	each(blocks, func(_ int, b *block) { b.solve(boundMoves, boundTolerance) })
	k.learn(blocks)
	copy(k.left, most)
	over := make([]float64, len(k.rows))
	for s := range k.sites {
		t := &k.sites[s]
		ratio := k.ceiling(t) / t.cost
		for i := t.rows.next(0); i >= 0; i = t.rows.next(i + 1) {
			over[i] = max(over[i], ratio)
		}
	}
	out := slices.Clone(k.worth)
	for i := range out {
		out[i] /= max(1, over[i])
		if math.IsInf(out[i], 0) || math.IsNaN(out[i]) {
			out[i] = 0
		}
	}
	return out
}
