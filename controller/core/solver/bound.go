package solver

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"

	"spokeshave.dev/controller/core/model"
	"spokeshave.dev/controller/core/solver/constraint"
	"spokeshave.dev/controller/core/solver/effort"
	"spokeshave.dev/controller/core/solver/packing"
	"spokeshave.dev/controller/core/solver/vec"
)

// LowerBound returns a lower bound on the cost of new nodes for the pods that a plan
// puts on new nodes, however they are packed, in USD/hour: effective cost plus
// Catalog.NodeCost. It is 0 when there are no new nodes, or when there are so many
// different requests that no bound is known. It considers the pods' requirements on
// their nodes, anti-affinity on single nodes and, for a class that only counts
// itself, a topology spread. It ignores preferences, limits, headroom and the other
// constraints between pods.
func LowerBound(in Input, plan *model.Plan) float64 {
	in.Pods = nil
	for i := range plan.Nodes {
		in.Pods = append(in.Pods, plan.Nodes[i].Pods...)
	}
	if len(in.Pods) == 0 {
		return 0
	}
	in = withPreferences(&in, make([][]preference, len(in.Snapshot.Specs)))
	in.budget = effort.New(len(in.Pods))
	in.Offerings = nil // the bound changes the costs of offerings, which must not be shared
	p := newProblem(in.problem(in.Snapshot.Specs))
	b := bounder{p: p, options: in.options(), origin: map[string]int{}}
	b.relax()
	b.splitSpreads()
	p.selectPackedRules()
	for i := range p.topology.All { // where every node has pods, a spread does not limit one node
		c := &p.topology.All[i]
		c.Packed = c.Packed && !c.ForSpread
	}
	p.numberConflicts()
	return b.bound()
}

// bounder computes a lower bound.
type bounder struct {
	p       *problem
	options attemptOptions
	space   *domainSpace
	// spreadClasses are the classes that must spread over domains. origin maps the
	// key of a part to the index of its class.
	spreadClasses []spreadClass
	origin        map[string]int
}

// spreadClass is a class of n pods in z domains, whose counts may differ by at most
// skew. duals are the values of a pod, by domain.
type spreadClass struct {
	n, z, skew int32
	duals      []float64
}

// maxInDomain returns how many pods a domain may have when each of the others has at
// least that number less skew.
func (e *spreadClass) maxInDomain() int32 {
	if e.n <= e.skew {
		return e.n
	}
	return e.skew + (e.n-e.skew)/e.z
}

// relax sets each offer's cost to the lowest that its tiers allow. It ignores the
// weights of pools when a bound could move pods to a pool of lower weight.
func (b *bounder) relax() {
	full := newBudget(b.p, b.options.headroom)
	for l := range b.p.supply.Templates {
		if full.bounded(b.p.supply.Templates[l].Pool) {
			for l := range b.p.supply.Templates {
				b.p.supply.Templates[l].WeightRank = 0
			}
			b.p.supply.WeightRanks = min(b.p.supply.WeightRanks, 1)
			break
		}
	}
	if !full.tiered {
		return
	}
	for o := range b.p.supply.Offers {
		f := &b.p.supply.Offers[o]
		for _, t := range b.p.supply.Tiers(int32(o)) {
			f.Cost = min(f.Cost, t.Cost, f.Price.USD())
		}
	}
	b.p.supply.SortTemplates()
}

// splitSpreads splits the classes that spread over themselves alone into one class
// per domain.
func (b *bounder) splitSpreads() {
	b.space = newDomainSpace(b.p, nil)
	owners := make([]int, len(b.p.topology.All)) // the number of classes that each group counts
	for i := range b.p.classes {
		if terms := b.p.classes[i].terms; terms != nil {
			for _, c := range terms.DomainGroups {
				owners[c]++
			}
		}
	}
	b.countOthers(owners)
	var out []class
	for i := range b.p.classes {
		cl := &b.p.classes[i]
		if r := cl.selfSpread(owners); r != nil {
			if parts := b.split(cl, r); parts != nil {
				out = append(out, parts...)
				continue
			}
		}
		out = append(out, *cl)
	}
	b.p.classes = sortClasses(out)
}

// countOthers adds to owners the pods elsewhere that the topology groups count.
func (b *bounder) countOthers(owners []int) {
	mine := make([]bool, len(b.p.snap.Pods))
	for _, i := range b.p.pods {
		mine[i] = true
	}
	for i := range b.p.snap.Pods {
		if mine[i] {
			continue
		}
		if terms := b.p.topology.Of(b.p.snap.Pods[i].Spec); terms != nil {
			for _, c := range terms.DomainGroups {
				owners[c]++
			}
		}
	}
}

// selfSpread returns the rule by which the class spreads over itself alone, nil for
// none.
func (c *class) selfSpread(owners []int) *constraint.Rule {
	if c.terms == nil || len(c.reasons) > 0 {
		return nil
	}
	for i := range c.terms.DomainRules {
		if r := &c.terms.DomainRules[i]; r.Kind == constraint.HardSpread && owners[r.Group] == 1 && c.terms.Multiplicity(r.Group) == 1 {
			return r
		}
	}
	return nil
}

// split makes one class for each domain that the pods may use. It returns nil when
// the split does not improve the bound.
func (b *bounder) split(cl *class, r *constraint.Rule) []class {
	d := &b.space.keys[b.space.keyOf(r.Group)]
	var sets []vec.Bits
	for _, set := range d.offers {
		set = set.Clone()
		if set.And(b.p.offersOf(cl)); b.p.someFits(&cl.req, set) {
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
		part.pods, part.key, part.offers = cl.pods[from:to], cl.key+" @"+strconv.Itoa(v), b.p.choices.ID(set)
		b.origin[part.key] = len(b.spreadClasses)
		parts[v] = part
	}
	b.spreadClasses = append(b.spreadClasses, spreadClass{n: n, z: z, skew: r.Max})
	return parts
}

// bound returns the sum of the pods' duals.
func (b *bounder) bound() float64 {
	left := make([]int32, len(b.p.classes))
	for c := range left {
		left[c] = b.p.classes[c].n()
	}
	a := newAttempt(b.p, b.options, left, mode{})
	k := &packingRound{p: b.p, n: b.p.supply.Dims.N(), cost: a.b.cost}
	all := vec.NewBits(len(b.p.supply.Offers))
	all.SetRange(0, int32(len(b.p.supply.Offers)))
	if k.items = b.p.newItems(left, a.floor, all, false); k.items.merged || len(k.items.list) == 0 {
		return 0
	}
	b.scaleUp(a, k)
	sum := 0.0
	for i, w := range packing.BoundingDuals(k.instance(a.b.byCost, 0, nil), b.itemLimits(k)) {
		for _, part := range k.items.list[i].members {
			if at, ok := b.origin[b.p.classes[part.class].key]; ok {
				b.spreadClasses[at].duals = append(b.spreadClasses[at].duals, w)
			} else {
				sum += float64(w * float64(part.n))
			}
		}
	}
	for i := range b.spreadClasses {
		sum += b.spreadClasses[i].lowestCost()
	}
	return sum
}

// itemLimits returns how many pods of each item the pricing may use. For pods that
// spread over domains, a domain may have more than the part that was made for it.
func (b *bounder) itemLimits(k *packingRound) []int32 {
	out := make([]int32, len(k.items.list))
	for i := range k.items.list {
		out[i] = k.items.list[i].n
		for _, part := range k.items.list[i].members {
			if at, ok := b.origin[b.p.classes[part.class].key]; ok {
				out[i] += scaleFactor * (b.spreadClasses[at].maxInDomain() - part.n)
			}
		}
	}
	return out
}

// scaleFactor is how many nodes count as one. Pods are then small compared with a
// node, so that the integer packing nearly equals the linear relaxation, and its
// duals are nearly optimal.
const scaleFactor = 64

// scaleUp multiplies the capacities of nodes, their costs and the numbers of pods by
// scaleFactor. Anti-affinity on a node becomes a resource of which each original
// node has one unit.
func (b *bounder) scaleUp(a *attempt, k *packingRound) {
	conflicts := b.p.packedConflicts()
	clique := packing.Cliques(k.packedItems(), &conflicts)
	pods := map[int32]int32{}
	for i := range k.items.list {
		if b.p.conflicts.Exclusive(k.items.list[i].conflict) {
			pods[clique[i]] += k.items.list[i].n
		}
	}
	large := slices.SortedFunc(maps.Keys(pods), func(x, y int32) int {
		if o := cmp.Compare(pods[y], pods[x]); o != 0 {
			return o
		}
		return cmp.Compare(x, y)
	})
	large = large[:min(len(large), vec.MaxDims-k.n)]
	for i := range k.items.list {
		r := &k.items.list[i]
		if at := slices.Index(large, clique[i]); at >= 0 && b.p.conflicts.Exclusive(r.conflict) {
			r.request[k.n+at] = 1
		}
		r.conflict = constraint.NoPorts
		r.n *= scaleFactor
	}
	for i := range b.p.supply.Shapes {
		room := &b.p.supply.Shapes[i].Capacity
		for d := range room {
			room[d] *= scaleFactor
		}
		for at := range large {
			room[k.n+at] = scaleFactor
		}
	}
	for at := range large {
		b.p.scale[k.n+at] = 1000
	}
	for o := range k.cost {
		fixed := b.p.supply.FixedCost(b.p.supply.Offers[o].Template).USD()
		k.cost[o] = float64(scaleFactor*(k.cost[o]+fixed)) - fixed
	}
	k.n += len(large)
	b.p.sortItems(&k.items)
}

// lowestCost returns the lowest total dual of the pods over all allowed
// distributions. For each number of pods in the fullest domain, the domains with low
// duals are filled first.
func (e *spreadClass) lowestCost() float64 {
	slices.Sort(e.duals)
	z, best := e.z, math.Inf(1)
	for most := (e.n + z - 1) / z; most <= e.maxInDomain(); most++ {
		fewest := max(0, most-e.skew)
		sum, left := 0.0, e.n-z*fewest
		for _, w := range e.duals {
			n := min(left, most-fewest)
			sum += float64(w * float64(fewest+n))
			left -= n
		}
		best = min(best, sum)
	}
	return best
}
